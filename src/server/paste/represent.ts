// Pastes as replies of the API write them.
import type { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { CreatedPaste } from '../../services/paste/create-paste.ts';
import type { Highlighter } from '../../services/paste/highlight/highlighter.ts';
import type { ReadPaste } from '../../services/paste/stored-paste.ts';
import { toTimestamp } from '../http/fields.ts';
import { encodeLargeJson, isLargeReply } from '../http/json-work.ts';
import type { createdPaste, readPasteReply, unlockedPaste } from './schemas.ts';

/** The two addresses of a paste. */
export function pasteUrls({ paste }: Config, pasteId: string): { url: string; rawUrl: string } {
  return { url: `${paste.url}/${pasteId}`, rawUrl: `${paste.url}/raw/${pasteId}` };
}

/** Reply of a creation. */
export function representCreated(config: Config, created: CreatedPaste): z.output<typeof createdPaste> {
  const { pasteId, deleteToken, expiresAt, hasPassword, burnAfterRead } = created;
  return {
    pasteId,
    ...pasteUrls(config, pasteId),
    deleteToken,
    expiresAt: toTimestamp(expiresAt),
    hasPassword,
    burnAfterRead,
  };
}

/** Reply of a read. */
export function representPaste(paste: ReadPaste): z.output<typeof readPasteReply> {
  const { pasteId, title, content, language, createdAt, expiresAt, viewCount, burnAfterRead, sizeBytes } =
    paste;
  return {
    pasteId,
    title,
    content,
    language,
    createdAt: toTimestamp(createdAt),
    expiresAt: toTimestamp(expiresAt),
    viewCount,
    burnAfterRead,
    sizeBytes,
  };
}

/** Reply of an unlock: a read and its markup. Large ones come as the bytes of their JSON, made off the event loop. */
export async function representUnlocked(
  highlighter: Highlighter,
  paste: ReadPaste,
): Promise<z.output<typeof unlockedPaste> | Uint8Array[]> {
  const read = representPaste(paste);
  const request = { content: paste.content, language: paste.language, key: highlightKey(paste) };
  if (!isLargeReply(read)) {
    const { html } = await highlighter.renderInlineHtml(request);
    if (html.byteLength < 65_536) return { ...read, highlightedHtml: Buffer.from(html).toString() };
  }
  const [json, markup] = await Promise.all([encodeLargeJson(read), highlighter.renderInlineJson(request)]);
  // The object is opened again at its closing brace, to take one more member.
  return [json.subarray(0, -1), Buffer.from(',"highlightedHtml":'), markup.html, Buffer.from('}')];
}

/** Names this content for the highlighter's cache; an id alone can be given again. */
export function highlightKey({ pasteKey, pasteId, burnAfterRead }: ReadPaste): string | undefined {
  return burnAfterRead ? undefined : `${pasteId}:${pasteKey}`;
}
