// Time-based one-time passwords (RFC 6238) and the codes that stand in for them. Each is good once.
import { generateSecret, generateURI, verifySync } from 'otplib';
import { randomReadableId } from '../../../platform/ids.ts';
import { keyedHash } from '../../../platform/secrets.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { openSecret, sealSecret } from './sealed-secret.ts';

const ISSUER = 'svc';
const STEP_SECONDS = 30;
const RECOVERY_CODES = 10;
const RECOVERY_CODE_LENGTH = 12;
// One step of drift each way (contract, section 5).
const TOLERANCE_SECONDS = STEP_SECONDS;

export function invalidTotp(): KanbanError {
  return new KanbanError('INVALID_TOTP', 'The code is wrong, or was used already.');
}

/**
 * Makes a new secret for an account; it counts only once a code of it was verified.
 *
 * @throws {KanbanError} CONFLICT when TOTP is enrolled already
 */
export async function enrollTotp(
  { platform }: KanbanService,
  accountId: string,
): Promise<{ secret: string; otpauthUri: string }> {
  const secret = generateSecret();
  const row = await platform.database
    .updateTable('account')
    .set({ totpSecret: sealSecret(platform.secrets, secret) })
    .where('id', '=', accountId)
    .where('totpEnabled', '=', false)
    .where('deletedAt', 'is', null)
    .returning('email')
    .executeTakeFirst();
  if (!row) throw new KanbanError('CONFLICT', 'TOTP is enrolled already; disable it first.');
  return { secret, otpauthUri: generateURI({ issuer: ISSUER, label: row.email, secret }) };
}

/**
 * Confirms an enrollment with a code; answers the recovery codes, this once.
 *
 * @throws {KanbanError} CONFLICT without a pending enrollment, INVALID_TOTP
 */
export async function confirmTotp(
  service: KanbanService,
  accountId: string,
  totp: string,
): Promise<{ recoveryCodes: string[] }> {
  const { database, secrets } = service.platform;
  const account = await database
    .selectFrom('account')
    .select(['totpSecret', 'totpEnabled'])
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (!account?.totpSecret || account.totpEnabled) {
    throw new KanbanError('CONFLICT', 'There is no enrollment to confirm.');
  }
  const step = stepOf(service, account.totpSecret, totp);
  if (step === undefined) throw invalidTotp();
  const recoveryCodes = Array.from({ length: RECOVERY_CODES }, () => randomReadableId(RECOVERY_CODE_LENGTH));
  await database.transaction().execute(async (transaction) => {
    // Another enrollment may have replaced the secret meanwhile.
    const { numUpdatedRows } = await transaction
      .updateTable('account')
      .set({ totpEnabled: true, totpLastStep: step })
      .where('id', '=', accountId)
      .where('totpEnabled', '=', false)
      .where('totpSecret', '=', account.totpSecret)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new KanbanError('CONFLICT', 'There is no enrollment to confirm.');
    await transaction
      .insertInto('recoveryCode')
      .values(
        recoveryCodes.map((code) => ({ accountId, codeHash: keyedHash(secrets.kanban.recoveryCode, code) })),
      )
      .execute();
  });
  return { recoveryCodes };
}

/**
 * Removes TOTP with its recovery codes.
 *
 * @throws {KanbanError} INVALID_TOTP, CONFLICT when it is not enrolled
 */
export async function disableTotp(service: KanbanService, accountId: string, totp: string): Promise<void> {
  const { database } = service.platform;
  const account = await database
    .selectFrom('account')
    .select('totpEnabled')
    .where('id', '=', accountId)
    .executeTakeFirst();
  if (!account?.totpEnabled) throw new KanbanError('CONFLICT', 'TOTP is not enrolled.');
  if (!(await useTotp(service, accountId, totp))) throw invalidTotp();
  await removeTotp(service, accountId);
}

/** Removes TOTP without a code: the operator's way out for who lost theirs. */
export async function removeTotp({ platform }: KanbanService, accountId: string): Promise<void> {
  await platform.database.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('account')
      .set({ totpSecret: null, totpEnabled: false })
      .where('id', '=', accountId)
      .execute();
    await transaction.deleteFrom('recoveryCode').where('accountId', '=', accountId).execute();
  });
}

/** Uses up a code of the app or a recovery code; of requests that race with the same one, one gets true. */
export async function useTotp(service: KanbanService, accountId: string, code: string): Promise<boolean> {
  const { database, secrets } = service.platform;
  const account = await database
    .selectFrom('account')
    .select('totpSecret')
    .where('id', '=', accountId)
    .where('totpEnabled', '=', true)
    .executeTakeFirst();
  if (!account?.totpSecret) return false;
  const step = stepOf(service, account.totpSecret, code);
  if (step !== undefined) {
    const { numUpdatedRows } = await database
      .updateTable('account')
      .set({ totpLastStep: step })
      .where('id', '=', accountId)
      .where('totpLastStep', '<', step)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }
  const { numDeletedRows } = await database
    .deleteFrom('recoveryCode')
    .where('accountId', '=', accountId)
    .where('codeHash', '=', keyedHash(secrets.kanban.recoveryCode, code.replaceAll(/[\s-]/g, '')))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The time step whose code this is, if it is near enough. */
function stepOf({ platform }: KanbanService, sealed: Buffer, token: string): number | undefined {
  if (!/^\d{6}$/.test(token)) return undefined;
  const result = verifySync({
    secret: openSecret(platform.secrets, sealed),
    token,
    epoch: Math.floor(platform.clock.now() / 1000),
    epochTolerance: TOLERANCE_SECONDS,
  });
  return result.valid && 'timeStep' in result ? result.timeStep : undefined;
}
