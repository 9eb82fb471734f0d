// Style sheets, scripts and pictures of the pages: read once, addressed by their hash, kept by browsers for good.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { z } from 'zod';
import { HttpError } from './errors.ts';
import { defineRoute, type Route } from './route.ts';

const CONTENT_TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

interface Asset {
  bytes: Buffer;
  contentType: string;
  hash: string;
}

export interface Assets {
  /** Address of an asset, with its hash: a new version has a new address. */
  url(name: string): string;
  route: Route;
}

/** Loads the assets in the given folders; of equal names the later folder wins. */
export function loadAssets(folders: URL[]): Assets {
  const assets = new Map<string, Asset>();
  for (const folder of folders) {
    for (const name of readdirSync(folder)) {
      const contentType = CONTENT_TYPES[extname(name)];
      if (contentType === undefined) continue;
      const bytes = readFileSync(new URL(name, folder));
      assets.set(name, {
        bytes,
        contentType,
        hash: createHash('sha256').update(bytes).digest('base64url').slice(0, 16),
      });
    }
  }
  return {
    url: (name) => {
      const asset = assets.get(name);
      if (!asset) throw new Error(`no asset is called ${name}`);
      return `/assets/${name}?v=${asset.hash}`;
    },
    route: assetRoute(assets),
  };
}

function assetRoute(assets: Map<string, Asset>): Route {
  return defineRoute({
    method: 'GET',
    path: '/assets/{name}',
    operationId: 'asset',
    summary: 'A style sheet, script or picture of the pages',
    params: z.object({ name: z.string() }),
    query: z.object({ v: z.string().optional() }),
    replies: { 200: { description: 'The asset.' }, 304: { description: 'Unchanged.' } },
    handler: async ({ params, query, context }) => {
      const asset = assets.get(params.name);
      if (!asset) throw new HttpError('NOT_FOUND', 'There is nothing at this address.');
      const headers = {
        etag: `"${asset.hash}"`,
        // Under another hash, or none, the same address may mean another version tomorrow.
        'cache-control': query.v === asset.hash ? 'public, max-age=31536000, immutable' : 'public, no-cache',
        'content-type': asset.contentType,
      };
      if (matchesEtag(context.headers['if-none-match'], headers.etag)) return { status: 304, headers };
      return { status: 200, body: asset.bytes, headers };
    },
  });
}

/** Whether If-None-Match names this entity tag (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string | string[] | undefined, etag: string): boolean {
  if (typeof ifNoneMatch !== 'string') return false;
  return ifNoneMatch.split(',').some((candidate) => ['*', etag, `W/${etag}`].includes(candidate.trim()));
}
