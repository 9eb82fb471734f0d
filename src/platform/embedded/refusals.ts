// What a client of the shared backend may not ask for, because it would change or answer what other clients see.
import { outlineStatements } from './sql-statements.ts';

/** Why a message is refused, in the terms of a PostgreSQL error. */
export interface Refusal {
  code: string;
  message: string;
  hint: string;
}

const FEATURE_NOT_SUPPORTED = '0A000';

function notSupported(what: string, hint: string): Refusal {
  return { code: FEATURE_NOT_SUPPORTED, message: `${what} on the embedded database`, hint };
}

export const namedStatementRefusal = notSupported(
  'named prepared statements are not available',
  'Send the query without a name.',
);

export const functionCallRefusal = notSupported(
  'the function call protocol is not available',
  'Call the function with SELECT.',
);

export const forgottenStatementRefusal: Refusal = {
  code: '26000',
  message: 'the unnamed prepared statement was not kept: the embedded database is shared by all clients',
  hint: 'Send Parse, Bind and Execute before one Sync, or inside one transaction.',
};

const SESSION_SETTING = notSupported('session settings are not kept', 'Use SET LOCAL inside a transaction.');

/** Each rule looks at the outline of one statement; the first that matches refuses it. */
const RULES: ReadonlyArray<{ pattern: RegExp; refusal: Refusal }> = [
  {
    pattern: /^(listen|unlisten)\b/,
    refusal: notSupported('LISTEN is not available', 'Use the local publications instead.'),
  },
  {
    // COPY FROM STDIN would leave the one backend waiting for data, which ends it for everybody.
    pattern: /^copy\b/,
    refusal: notSupported('COPY is not available', 'Use INSERT with several rows, or SELECT.'),
  },
  {
    pattern: /^(prepare|execute|deallocate)\b/,
    refusal: notSupported('PREPARE and EXECUTE are not available', 'Send the query itself.'),
  },
  { pattern: /^set (?!local\b|transaction\b|constraints\b)/, refusal: SESSION_SETTING },
  { pattern: /^(reset|discard|load)\b/, refusal: SESSION_SETTING },
  {
    pattern: /^create (global |local )?(temp|temporary) (?!.*\bon commit drop\b)/,
    refusal: notSupported('temporary tables of a session are not available', 'Create it ON COMMIT DROP.'),
  },
  {
    pattern: /^declare .*\bwith hold\b/,
    refusal: notSupported('cursors WITH HOLD are not available', 'Read the cursor inside its transaction.'),
  },
  {
    pattern: /\bpg_(try_)?advisory_(un)?lock(_shared|_all)? \(/,
    refusal: notSupported(
      'advisory locks of a session are not available',
      'Use pg_advisory_xact_lock inside a transaction.',
    ),
  },
];

/** Most statements hold none of these words, and then need no closer look. */
const SUSPICIOUS =
  /\b(?:(?:un)?listen|copy|prepare|execute|deallocate|reset|discard|load|temp|temporary|hold)\b|advisory|(?:^|;|\/|\n)\s*set\b/i;

/**
 * Says whether a SQL text asks for something the shared backend cannot give.
 *
 * @param sql one or several statements
 * @returns the first refusal, or undefined where all may run
 */
export function refusalOf(sql: string): Refusal | undefined {
  if (!SUSPICIOUS.test(sql)) return undefined;
  for (const { code } of outlineStatements(sql)) {
    const rule = RULES.find(({ pattern }) => pattern.test(code));
    if (rule) return rule.refusal;
  }
  return undefined;
}
