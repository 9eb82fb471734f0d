// Telling every process what was committed. Whoever misses it finds it in the activity: nothing depends on a message.
import { messageOf } from '../../../platform/errors.ts';
import type { Activity } from '../boards/activity.ts';
import type { KanbanService } from '../kanban-service.ts';
import { wakeDispatcher } from '../webhooks/announce-deliveries.ts';

/** Where a board's activity is published. */
export function boardChannel(boardId: string): string {
  return `board:${boardId}`;
}

/** Announces a change after its commit; does not wait for anybody to hear of it. */
export function announceChange(
  { platform }: Pick<KanbanService, 'platform'>,
  boardId: string,
  { activity, toldWebhooks }: { activity: readonly Activity[]; toldWebhooks: readonly string[] },
): void {
  const { ephemeral, log } = platform;
  const missed = (error: unknown) =>
    log.debug({ error: messageOf(error) }, 'a change was not announced; it will be found');
  if (activity.length > 0) {
    ephemeral.publish(boardChannel(boardId), JSON.stringify(activity)).catch(missed);
  }
  if (toldWebhooks.length > 0) wakeDispatcher({ platform }, { written: toldWebhooks });
}
