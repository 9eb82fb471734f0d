// What a change leaves behind, in its transaction: activity with the board's next numbers, what automations make of
// it, notifications, webhook deliveries.
import { sql } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import { type Automation, runAutomations } from '../automations/run-automations.ts';
import { type Endpoint, writeDeliveries } from '../webhooks/write-deliveries.ts';
import type { Activity } from './activity.ts';
import type { ActivityEntry, BoardChange, Deed, Notice } from './change.ts';

export interface Recorded {
  activity: Activity[];
  /** Ids of the webhooks that are to be told. */
  toldWebhooks: string[];
}

interface Reactions {
  automations: Automation[];
  endpoints: Endpoint[];
}

/** Writes what was recorded of a change, and runs what that sets off. */
export async function recordAll(
  change: BoardChange,
  entries: readonly ActivityEntry[],
  notices: readonly Notice[],
): Promise<Recorded> {
  const told = notices.map((notice) => ({ ...notice, actorId: change.accountId }));
  if (entries.length === 0) {
    await writeNotices(change, told);
    return { activity: [], toldWebhooks: [] };
  }
  const deeds = entries.map((entry) => ({ ...entry, actorId: change.accountId }));
  const first = await writeActivity(change, deeds);
  const activity = [...first.activity];
  const further = await runAutomations(change, deeds, first.reactions.automations);
  if (further.deeds.length > 0) activity.push(...(await writeActivity(change, further.deeds)).activity);
  await writeNotices(change, [...told, ...further.notices]);
  const toldWebhooks = await writeDeliveries(change, activity, first.reactions.endpoints);
  return { activity, toldWebhooks };
}

/** Numbers and writes deeds; reads who reacts, with the board in hand. */
async function writeActivity(
  { transaction, boardId, now }: BoardChange,
  deeds: readonly Deed[],
): Promise<{ activity: Activity[]; reactions: Reactions }> {
  const ids = deeds.map(() => createId(now.getTime()));
  const { rows } = await sql<{ lastSeq: number } & Reactions>`
    WITH counter AS (
      UPDATE board SET last_seq = last_seq + ${deeds.length} WHERE id = ${boardId} RETURNING last_seq
    ), written AS (
      INSERT INTO activity (id, board_id, seq, verb, card_id, actor_id, "timestamp", metadata)
      SELECT entry.id, ${boardId}, last_seq - ${deeds.length} + entry.number, verb, card_id, actor_id, ${now},
        metadata::jsonb
      FROM counter, unnest(
        ${ids}::text[], ${deeds.map(({ verb }) => verb)}::text[],
        ${deeds.map(({ cardId }) => cardId ?? null)}::text[], ${deeds.map(({ actorId }) => actorId)}::text[],
        ${deeds.map(({ metadata }) => JSON.stringify(metadata ?? {}))}::text[]
      ) WITH ORDINALITY AS entry (id, verb, card_id, actor_id, metadata, number)
    )
    SELECT last_seq,
      coalesce((SELECT json_agg(json_build_object('id', id, 'creatorId', creator_id, 'trigger', trigger,
          'actions', actions) ORDER BY id)
        FROM automation WHERE board_id = ${boardId} AND enabled), '[]') AS automations,
      coalesce((SELECT json_agg(json_build_object('id', id, 'verbs', verbs) ORDER BY id)
        FROM webhook WHERE board_id = ${boardId}), '[]') AS endpoints
    FROM counter`.execute(transaction);
  const [row] = rows;
  if (!row) throw new Error(`board ${boardId} went away under its lock`);
  const { lastSeq, ...reactions } = row;
  const activity = deeds.map(({ verb, cardId, actorId, metadata = {} }, index) => ({
    id: ids[index] ?? '',
    seq: lastSeq - deeds.length + index + 1,
    verb,
    boardId,
    cardId: cardId ?? null,
    actorId,
    timestamp: now,
    metadata,
  }));
  return { activity, reactions };
}

async function writeNotices(
  { transaction, boardId, now }: BoardChange,
  notices: ReadonlyArray<Notice & { actorId: string | null }>,
): Promise<void> {
  const others = notices.filter(({ accountId, actorId }) => accountId !== actorId);
  if (others.length === 0) return;
  await transaction
    .insertInto('notification')
    .values(
      others.map((notice) => ({
        id: createId(now.getTime()),
        boardId,
        createdAt: now,
        commentId: null,
        ...notice,
      })),
    )
    .execute();
}
