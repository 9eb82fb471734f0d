// Reads what the backend answered to a unit: its transaction status, and the errors the front explains itself.
import type { Refusal } from './refusals.ts';
import { refusalMarker } from './request-reader.ts';
import { encodeError, HEADER_BYTES, readErrorFields, type TransactionStatus } from './wire.ts';

/** An answer, ready to be sent. */
export interface Answer {
  parts: Buffer[];
  /** Status of the last ReadyForQuery; undefined where the answer does not end with one. */
  status: TransactionStatus | undefined;
}

/** What an answer is read with. */
export interface AnswerContext {
  refusals: Refusal[];
  /** Why the database refuses to write, where it does: the error that replaces "read-only transaction". */
  noSpace: string | undefined;
}

const ERROR_RESPONSE = 0x45;
const READY_FOR_QUERY = 0x5a;
const NOTIFICATION = 0x41;
const READ_ONLY_TRANSACTION = '25006';
const DISK_FULL = '53100';

function isStatus(text: string): text is TransactionStatus {
  return text === 'I' || text === 'T' || text === 'E';
}

/** The error to send in place of the backend's, or undefined where its own stands. */
function replacementFor(body: Buffer, { refusals, noSpace }: AnswerContext): Buffer | undefined {
  if (refusals.length === 0 && noSpace === undefined) return undefined;
  const fields = readErrorFields(body);
  if (noSpace !== undefined && fields.get('C') === READ_ONLY_TRANSACTION) {
    return encodeError({ severity: 'ERROR', code: DISK_FULL, message: noSpace });
  }
  const text = fields.get('M') ?? '';
  const refusal = refusals.find((_, index) => text.includes(`"${refusalMarker(index)}"`));
  return refusal && encodeError({ severity: 'ERROR', ...refusal });
}

/**
 * Reads the answer to one unit.
 *
 * @param response whole messages, as the backend wrote them
 */
export function readAnswer(response: Buffer, context: AnswerContext): Answer {
  const parts: Buffer[] = [];
  let status: TransactionStatus | undefined;
  let sentUpTo = 0;
  let start = 0;
  while (start + HEADER_BYTES <= response.length) {
    const type = response[start];
    const end = start + 1 + response.readUInt32BE(start + 1);
    status = undefined;
    if (type === READY_FOR_QUERY) {
      const text = response.toString('latin1', start + HEADER_BYTES, end);
      status = isStatus(text) ? text : undefined;
    } else if (type === ERROR_RESPONSE || type === NOTIFICATION) {
      const replacement =
        type === NOTIFICATION
          ? Buffer.alloc(0)
          : replacementFor(response.subarray(start + HEADER_BYTES, end), context);
      if (replacement !== undefined) {
        parts.push(response.subarray(sentUpTo, start), replacement);
        sentUpTo = end;
      }
    }
    start = end;
  }
  parts.push(response.subarray(sentUpTo));
  return { parts: parts.filter((part) => part.length > 0), status };
}
