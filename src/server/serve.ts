// Starts what a daemon serves, and stops it again in the order that loses nothing.
import type { FastifyInstance } from 'fastify';
import type { Origin } from '../platform/config/config.ts';
import { messageOf } from '../platform/errors.ts';
import type { Platform } from '../platform/platform.ts';
import { closeGracefully } from './http/close.ts';
import { listen } from './http/listen.ts';
import { createKanbanApp } from './kanban/app.ts';
import { createLinkApp } from './links/app.ts';
import { createOpsApp, type Readiness } from './ops.ts';
import { createPasteApp } from './paste/app.ts';

export type ServiceName = 'kanban' | 'paste' | 'links';

export const SERVICE_NAMES: readonly ServiceName[] = ['kanban', 'paste', 'links'];

export interface ServeOptions {
  platform: Platform;
  version: string;
  services: readonly ServiceName[];
}

export interface RunningServers {
  /** Where each service can be reached from this machine. */
  addresses: Partial<Record<ServiceName | 'ops', string>>;
  /** Readiness turns 503, then nothing new is accepted, then what runs is finished. */
  stop(): Promise<void>;
}

interface ServiceDefinition {
  create(options: { platform: Platform; version: string }): Promise<FastifyInstance>;
  origin(platform: Platform): Origin;
  portSetting: string;
}

const SERVICES: Record<ServiceName, ServiceDefinition> = {
  kanban: { create: createKanbanApp, origin: ({ config }) => config.kanban, portSetting: 'KANBAN_PORT' },
  paste: { create: createPasteApp, origin: ({ config }) => config.paste, portSetting: 'PASTE_PORT' },
  links: { create: createLinkApp, origin: ({ config }) => config.links, portSetting: 'LINKS_PORT' },
};

/**
 * Starts the HTTP servers of a process and its operator endpoint.
 *
 * @throws {Failure} CANNOT_LISTEN when an address is taken; whatever had started is stopped again
 */
export async function startServers({ platform, version, services }: ServeOptions): Promise<RunningServers> {
  const { config, log } = platform;
  const readiness: Readiness = { ready: false };
  const apps: FastifyInstance[] = [];
  const addresses: RunningServers['addresses'] = {};
  const ops = createOpsApp(platform, readiness);

  const stop = async () => {
    readiness.ready = false;
    await Promise.all(
      apps.map((app) =>
        closeGracefully(app).catch((error: unknown) =>
          log.error({ error: messageOf(error) }, 'closing a server failed'),
        ),
      ),
    );
    await ops.close();
  };
  try {
    for (const name of services) {
      const service = SERVICES[name];
      const origin = service.origin(platform);
      const app = await service.create({ platform, version });
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

function addressOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
