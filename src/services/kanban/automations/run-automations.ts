// What automations make of a change: in its transaction, as their creators, from metadata alone (contract, section 5).
import type { ActivityEntry, BoardChange, Deed, Notice } from '../boards/change.ts';
import { perform } from './actions.ts';
import type { Action, Trigger } from './rules.ts';

export interface Automation {
  id: string;
  /** Null once the account is gone for good. */
  creatorId: string | null;
  trigger: Trigger;
  actions: Action[];
}

/** What automations did, and whom they told. */
export interface Reaction {
  deeds: Deed[];
  notices: Array<Notice & { actorId: string | null }>;
}

// Of automations that set each other off.
const MOST_DEEP = 5;
// Of one change: what comes after these does not happen.
const MOST_ACTIONS = 200;

/** Runs the automations that deeds set off, and those that these set off, five deep at most. */
export async function runAutomations(
  change: BoardChange,
  deeds: readonly Deed[],
  automations: readonly Automation[],
): Promise<Reaction> {
  const reaction: Reaction = { deeds: [], notices: [] };
  if (!deeds.some((deed) => automations.some(({ trigger }) => isSetOff(trigger, deed)))) return reaction;
  const members = await membersAmong(change, automations);
  const lost = new Set<string>();
  let actionsLeft = MOST_ACTIONS;
  let wave: readonly Deed[] = deeds;
  for (let depth = 1; depth <= MOST_DEEP && wave.length > 0; depth++) {
    const next: Deed[] = [];
    for (const deed of wave) {
      for (const automation of automations.filter(({ trigger }) => isSetOff(trigger, deed))) {
        const { id: automationId, creatorId, actions } = automation;
        if (creatorId === null || !members.has(creatorId)) {
          lost.add(automationId);
          continue;
        }
        const acting = actAs(change, { creatorId, automationId }, next, reaction.notices);
        for (const action of actions.slice(0, actionsLeft)) await perform(acting, deed.cardId, action);
        actionsLeft = Math.max(0, actionsLeft - actions.length);
      }
    }
    reaction.deeds.push(...next);
    wave = next;
  }
  reaction.deeds.push(...(await disable(change, [...lost])));
  return reaction;
}

function isSetOff({ verb, toColumnId, fromColumnId, labelId }: Trigger, deed: ActivityEntry): boolean {
  const { metadata = {} } = deed;
  const isMeant = (wanted: string | null | undefined, name: string) =>
    wanted == null || metadata[name] === wanted;
  return (
    deed.verb === verb &&
    deed.cardId != null &&
    isMeant(toColumnId, 'toColumnId') &&
    isMeant(fromColumnId, 'fromColumnId') &&
    isMeant(labelId, 'labelId')
  );
}

function actAs(
  change: BoardChange,
  { creatorId, automationId }: { creatorId: string; automationId: string },
  deeds: Deed[],
  notices: Reaction['notices'],
): BoardChange {
  return {
    ...change,
    accountId: creatorId,
    record: ({ metadata, ...entry }) =>
      deeds.push({ ...entry, metadata: { ...metadata, automationId }, actorId: creatorId }),
    notify: (notice) => notices.push({ ...notice, actorId: creatorId }),
  };
}

async function membersAmong(
  { transaction, workspaceId }: BoardChange,
  automations: readonly Automation[],
): Promise<Set<string>> {
  const creators = [...new Set(automations.map(({ creatorId }) => creatorId).filter((id) => id !== null))];
  if (creators.length === 0) return new Set();
  const rows = await transaction
    .selectFrom('workspaceMember')
    .select('accountId')
    .where('workspaceId', '=', workspaceId)
    .where('accountId', 'in', creators)
    .execute();
  return new Set(rows.map(({ accountId }) => accountId));
}

/** Of automations whose creator has lost access. */
async function disable({ transaction, now }: BoardChange, ids: readonly string[]): Promise<Deed[]> {
  if (ids.length === 0) return [];
  await transaction
    .updateTable('automation')
    .set({ enabled: false, updatedAt: now })
    .where('id', 'in', ids)
    .execute();
  return ids.map((automationId) => ({
    verb: 'AUTOMATION_UPDATED',
    actorId: null,
    metadata: { automationId, fields: ['enabled'] },
  }));
}
