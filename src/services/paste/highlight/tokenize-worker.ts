// The thread that runs grammars. It may be killed at any moment, and holds nothing that would be missed.
import { type TokenizeRequest, tokenize } from './tokenize.ts';
import { transferring } from './transfer.ts';

export default async function run(request: TokenizeRequest): Promise<unknown> {
  const result = await tokenize(request);
  return 'tokens' in result ? transferring(result, [result.tokens.buffer]) : result;
}
