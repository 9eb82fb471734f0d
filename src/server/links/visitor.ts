// What a request tells of whoever follows a link.
import { describeAgent, referrerHostOf } from '../../services/links/clicks/visitor.ts';
import type { Visitor } from '../../services/links/unlock-link.ts';

type Headers = Record<string, string | string[] | undefined>;

/** The visitor behind a request; `isBot` ones are not counted, unless they unlock a link. */
export function visitorOf(headers: Headers, addressHash: string): Visitor & { isBot: boolean } {
  const { browser, operatingSystem, device, isBot } = describeAgent(single(headers['user-agent']));
  return {
    browser,
    operatingSystem,
    device,
    isBot,
    referrerHost: referrerHostOf(single(headers.referer)),
    addressHash,
  };
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
