// What a request tells of its visitor, reduced to names from bounded lists: browser, system, kind of device,
// and the host it came from.
import Bowser from 'bowser';
import crawlers from 'crawler-user-agents';
import { LRUCache } from 'lru-cache';

export interface Agent {
  browser: string;
  operatingSystem: string;
  device: string;
  /** Crawlers and preview fetchers, by name: they are redirected and not counted. */
  isBot: boolean;
}

export const UNKNOWN = 'Unknown';
export const DIRECT = 'Direct';

const AGENTS_IN_MEMORY = 20_000;
// Longer ones say nothing more, and the memory they would take is the visitor's to choose.
const AGENT_LENGTH = 512;
const HOST_LENGTH = 253;

// curl, wget and libraries are how people look at a link from a terminal; a browser that is driven is a browser.
const NOT_BOTS = new Set(['http-library', 'browser-automation']);
// The preview fetchers of these begin with their name; in the agent of a browser it is the app that the browser is in.
const ALSO_BROWSERS = new Set(['Viber', 'WhatsApp']);
// What the package does not know: preview fetchers of Bluesky, of Rocket.Chat, which calls itself a Chrome and puts its
// own name last (its desktop app does not), of Zulip, of Nextcloud ("Nextcloud Server Crawler"), and of their kind.
const MORE_BOTS = [
  'Cardyb/',
  'Rocket\\.Chat/[^ ]+$',
  'U(?:RL|rl)[ -]?Preview',
  'Link[ -]?Preview',
  '[Cc]rawler',
];
const BOT_PATTERN = new RegExp(
  [
    // The package's types leave the tags out.
    ...(crawlers as ReadonlyArray<{ pattern: string; tags?: string[] }>)
      .filter(({ tags = [] }) => !tags.some((tag) => NOT_BOTS.has(tag)))
      .map(({ pattern }) => (ALSO_BROWSERS.has(pattern) ? `^${pattern}` : pattern)),
    ...MORE_BOTS,
  ].join('|'),
);
// An agent that is in no list would otherwise write whatever it likes into the statistics.
const BROWSERS = new Set<string>(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS = new Set<string>(Object.values(Bowser.OS_MAP));
const DEVICES: Record<string, string> = { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet', tv: 'TV' };

const agents = new LRUCache<string, Agent>({ max: AGENTS_IN_MEMORY });

/** What a User-Agent header says. */
export function describeAgent(header: string | undefined): Agent {
  const userAgent = (header ?? '').slice(0, AGENT_LENGTH);
  const known = agents.get(userAgent);
  if (known) return known;
  const agent = parseAgent(userAgent);
  agents.set(userAgent, agent);
  return agent;
}

function parseAgent(userAgent: string): Agent {
  if (userAgent.trim() === '') {
    return { browser: UNKNOWN, operatingSystem: UNKNOWN, device: UNKNOWN, isBot: false };
  }
  const { browser, os, platform } = Bowser.parse(userAgent);
  return {
    browser: nameIn(BROWSERS, browser.name),
    operatingSystem: nameIn(SYSTEMS, os.name),
    device: DEVICES[platform.type ?? ''] ?? UNKNOWN,
    isBot: BOT_PATTERN.test(userAgent),
  };
}

function nameIn(names: ReadonlySet<string>, name: string | undefined): string {
  return name !== undefined && names.has(name) ? name : UNKNOWN;
}

/** The host of a Referer header (RFC 9110, section 10.1.3); `Direct` without one, `Unknown` for what is no URL. */
export function referrerHostOf(header: string | undefined): string {
  if (header === undefined || header === '') return DIRECT;
  const url = URL.parse(header);
  if (url === null || url.hostname === '' || url.hostname.length > HOST_LENGTH) return UNKNOWN;
  return url.hostname;
}
