// The activity of a card that was changed: one row for each kind of change.
import type { Row } from '../access.ts';
import type { BoardChange } from '../boards/change.ts';

export type StoredCard = Row & { columnId: string; position: string; milestoneId: string | null };

export interface CardState {
  completed?: boolean | undefined;
  archived?: boolean | undefined;
  milestoneId?: string | null | undefined;
}

/** Writes down each kind of change that a card went through. */
export function recordCardChanges(
  change: BoardChange,
  { id: cardId, milestoneId: before }: StoredCard,
  { values, changed, fieldsChanged }: { values: CardState; changed: string[]; fieldsChanged: boolean },
): void {
  const ownVerbs = new Set(['completed', 'archived', 'milestoneId']);
  const fields = changed.filter((name) => !ownVerbs.has(name));
  if (fieldsChanged) fields.push('customFieldValues');
  if (fields.length > 0) change.record({ verb: 'CARD_UPDATED', cardId, metadata: { cardId, fields } });
  if (changed.includes('completed')) {
    change.record({
      verb: values.completed ? 'CARD_COMPLETED' : 'CARD_REOPENED',
      cardId,
      metadata: { cardId },
    });
  }
  if (changed.includes('archived')) {
    change.record({
      verb: values.archived ? 'CARD_ARCHIVED' : 'CARD_RESTORED',
      cardId,
      metadata: { cardId },
    });
  }
  if (changed.includes('milestoneId')) recordMilestone(change, cardId, before, values.milestoneId ?? null);
}

function recordMilestone(
  change: BoardChange,
  cardId: string,
  fromMilestoneId: string | null,
  milestoneId: string | null,
): void {
  change.record({ verb: 'CARD_MILESTONE_SET', cardId, metadata: { cardId, fromMilestoneId, milestoneId } });
}
