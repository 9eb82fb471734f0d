// What a card is made with and changed by: its own fields, and values of the board's custom fields.
import { sql } from 'kysely';
import type { BoardChange } from '../boards/change.ts';
import { requireOnBoard } from '../boards/references.ts';
import { invalidField } from '../errors.ts';

export interface FieldValue {
  fieldId: string;
  /** Null removes the value. */
  encValue: string | null;
}

export interface CardFields {
  encDescription?: string | null | undefined;
  startAt?: Date | null | undefined;
  dueAt?: Date | null | undefined;
  milestoneId?: string | null | undefined;
  customFieldValues?: FieldValue[] | undefined;
}

/**
 * @throws {KanbanError} BAD_REQUEST for a milestone of another board
 */
export async function requireMilestone(
  change: BoardChange,
  milestoneId: string | null | undefined,
): Promise<void> {
  if (milestoneId != null) await requireOnBoard(change, 'milestone', [milestoneId], 'milestoneId');
}

/**
 * Writes values of custom fields beside those that are there.
 *
 * @returns whether anything changed
 * @throws {KanbanError} BAD_REQUEST for a field of another board
 */
export async function mergeFieldValues(
  change: BoardChange,
  cardId: string,
  values: readonly FieldValue[],
): Promise<boolean> {
  if (values.length === 0) return false;
  const fieldIds = values.map(({ fieldId }) => fieldId);
  if (new Set(fieldIds).size < fieldIds.length) {
    throw invalidField('customFieldValues', 'names a field twice');
  }
  await requireOnBoard(change, 'customField', fieldIds, 'customFieldValues');
  const { rows } = await sql`
    WITH given AS (
      SELECT * FROM unnest(${fieldIds}::text[], ${values.map(({ encValue }) => encValue)}::text[])
        AS t (field_id, enc_value)
    ), removed AS (
      DELETE FROM card_field_value AS known USING given
      WHERE known.card_id = ${cardId} AND known.field_id = given.field_id AND given.enc_value IS NULL
      RETURNING 1
    ), written AS (
      INSERT INTO card_field_value AS known (card_id, field_id, enc_value)
      SELECT ${cardId}, field_id, enc_value FROM given WHERE enc_value IS NOT NULL
      ON CONFLICT (card_id, field_id) DO UPDATE SET enc_value = excluded.enc_value
        WHERE known.enc_value <> excluded.enc_value
      RETURNING 1
    )
    SELECT 1 FROM removed UNION ALL SELECT 1 FROM written`.execute(change.transaction);
  return rows.length > 0;
}
