// Starts what a daemon serves, and stops it again in the order that loses nothing.
import type { FastifyInstance } from 'fastify';
import type { Origin } from '../platform/config/config.ts';
import { messageOf } from '../platform/errors.ts';
import type { Platform } from '../platform/platform.ts';
import { type KanbanService, openKanbanService } from '../services/kanban/kanban-service.ts';
import { closeGracefully } from './http/close.ts';
import { listen } from './http/listen.ts';
import { createKanbanApp } from './kanban/app.ts';
import { createLinkApp } from './links/app.ts';
import { createOpsApp, type Readiness } from './ops.ts';
import { createPasteApp } from './paste/app.ts';
import { createRelayApp } from './relay/app.ts';
import { openRelay, type Relay } from './relay/relay.ts';

export type ServiceName = 'kanban' | 'paste' | 'links';

/** What a process can serve: the services, and the relay of the kanban service. */
export type ServerName = ServiceName | 'relay';

export const SERVICE_NAMES: readonly ServiceName[] = ['kanban', 'paste', 'links'];

export interface ServeOptions {
  platform: Platform;
  version: string;
  servers: readonly ServerName[];
}

export interface RunningServers {
  /** Where each service can be reached from this machine. */
  addresses: Partial<Record<ServerName | 'ops', string>>;
  /** Readiness turns 503, then nothing new is accepted, then what runs is finished. */
  stop(): Promise<void>;
}

interface ServerDefinition {
  create(options: {
    platform: Platform;
    version: string;
    relay: Relay | undefined;
  }): Promise<FastifyInstance>;
  origin(platform: Platform): Origin;
  portSetting: string;
}

const SERVERS: Record<ServerName, ServerDefinition> = {
  kanban: { create: createKanbanApp, origin: ({ config }) => config.kanban, portSetting: 'KANBAN_PORT' },
  paste: { create: createPasteApp, origin: ({ config }) => config.paste, portSetting: 'PASTE_PORT' },
  links: { create: createLinkApp, origin: ({ config }) => config.links, portSetting: 'LINKS_PORT' },
  relay: {
    create: async ({ platform, relay }) => createRelayApp(platform, relay ?? unopened()),
    origin: ({ config }) => config.relay,
    portSetting: 'RELAY_PORT',
  },
};

/**
 * Starts the HTTP servers of a process and its operator endpoint.
 *
 * @throws {Failure} CANNOT_LISTEN when an address is taken; whatever had started is stopped again
 */
export async function startServers({ platform, version, servers }: ServeOptions): Promise<RunningServers> {
  const { config, log } = platform;
  const readiness: Readiness = { ready: false };
  const apps: FastifyInstance[] = [];
  const addresses: RunningServers['addresses'] = {};
  const ops = createOpsApp(platform, readiness);
  let kanban: KanbanService | undefined;

  const stop = async () => {
    readiness.ready = false;
    await Promise.all(
      apps.map((app) =>
        closeGracefully(app).catch((error: unknown) =>
          log.error({ error: messageOf(error) }, 'closing a server failed'),
        ),
      ),
    );
    await kanban?.close();
    await ops.close();
  };
  try {
    // One relay behind both ports: that of the kanban service, and its own.
    if (servers.includes('relay')) kanban = await openKanbanService(platform);
    const relay = kanban && (await openRelay(kanban));
    for (const name of servers) {
      const service = SERVERS[name];
      const origin = service.origin(platform);
      const app = await service.create({ platform, version, relay });
      apps.push(app);
      const port = await listen(app, {
        host: config.host,
        port: origin.port,
        service: name,
        portSetting: service.portSetting,
      });
      addresses[name] = addressOf(config.host, port);
      // Port 0 asks for any free one: links in replies must lead to the one that was given.
      if (origin.url === 'http://localhost:0') origin.url = `http://localhost:${port}`;
    }
    const opsPort = await listen(ops, {
      host: config.ops.host,
      port: config.ops.port,
      service: 'the operator endpoint',
      portSetting: 'OPS_PORT',
    });
    addresses.ops = addressOf(config.ops.host, opsPort);
  } catch (error) {
    await stop();
    throw error;
  }
  readiness.ready = true;
  return { addresses, stop };
}

function unopened(): never {
  throw new Error('the relay was not opened');
}

function addressOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
