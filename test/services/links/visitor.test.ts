// Who is counted: people in whatever browser, not what fetches previews.
import { describe, expect, test } from 'vitest';
import { describeAgent } from '../../../src/services/links/clicks/visitor.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)';
const ANDROID =
  'Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

describe('a preview fetcher', () => {
  test.each([
    'Mozilla/5.0 (compatible; Bluesky Cardyb/1.1; +mailto:support@bsky.app)',
    'Mozilla/5.0 (compatible; ZulipURLPreview/9.0; +https://zulip.example)',
    `${CHROME} Chrome/41.0.2227.0 Safari/537.36 Rocket.Chat/6.4.2`,
    'Nextcloud Server Crawler',
    'Nextcloud-Server-Crawler/32.0.1',
    'Mozilla/5.0 (compatible; LinkPreview/1.0)',
    'Viber',
    'Viber/20.5.0.3',
    'WhatsApp/2.23.20.0 A',
  ])('%s is a bot', (agent) => {
    expect(describeAgent(agent).isBot).toBe(true);
  });
});

describe('a browser inside an app', () => {
  test.each([
    `${ANDROID} Chrome/120.0.0.0 Mobile Safari/537.36 Viber/20.5.0.3`,
    `${IPHONE} Mobile/15E148 Viber/21.0.0`,
    `${IPHONE} Mobile/15E148 WhatsApp/2.23.20`,
    `${IPHONE} Mobile/15E148 Instagram 300.0.0.0`,
    `${IPHONE} Mobile/15E148 [FBAN/FBIOS;FBAV/400.0]`,
    `${IPHONE} Mobile/15E148 [Pinterest/iOS]`,
    `${ANDROID} Chrome/120.0.0.0 Mobile Safari/537.36 Line/13.0`,
    `${ANDROID} Chrome/120.0.0.0 Mobile Safari/537.36 MicroMessenger/8.0`,
    `${CHROME} Rocket.Chat/3.9.0 Chrome/108.0.0.0 Electron/22.0.0 Safari/537.36`,
    `${CHROME} Slack/4.35 Chrome/118.0 Electron/27.0 Safari/537.36`,
  ])('%s is none', (agent) => {
    expect(describeAgent(agent).isBot).toBe(false);
  });
});
