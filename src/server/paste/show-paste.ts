// The page of a paste: its head, the highlighted content as bytes from a worker, its tail.
import { parseLineRange } from '../../services/paste/highlight/line-range.ts';
import { languageName } from '../../services/paste/languages.ts';
import type { PasteService } from '../../services/paste/paste-service.ts';
import type { ReadPaste } from '../../services/paste/stored-paste.ts';
import type { RouteReply } from '../http/route.ts';
import type { AssetUrl } from './pages/layout.ts';
import { viewPage } from './pages/view-page.ts';
import { highlightKey } from './represent.ts';

export interface ShowOptions {
  /** What `?lines=` said. */
  lines: string | undefined;
  hasPassword: boolean;
}

/** The reply that shows a paste that has just been read. */
export async function showPaste(
  service: PasteService,
  assets: AssetUrl,
  paste: ReadPaste,
  { lines, hasPassword }: ShowOptions,
): Promise<RouteReply> {
  const { html, lineCount, layout, plain } = await service.highlighter.renderContentHtml({
    content: paste.content,
    language: paste.language,
    key: highlightKey(paste),
    lines: parseLineRange(lines),
  });
  const { head, tail } = viewPage({
    ...paste,
    assets,
    languageName: languageName(paste.language),
    hasPassword,
    lineCount,
    layout,
    plain,
    lines,
    now: new Date(service.platform.clock.now()),
  });
  return {
    status: 200,
    body: [textBytes(head), html, textBytes(tail)],
    headers: { 'content-type': 'text/html; charset=utf-8' },
  };
}

/** UTF-8 bytes of a text. */
export function textBytes(text: string): Uint8Array {
  return Buffer.from(text);
}
