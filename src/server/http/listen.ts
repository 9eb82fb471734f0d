// Puts an application on its address, and says what is wrong when it cannot be.
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { codeOf, Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';

export interface ListenOptions {
  host: string;
  port: number;
  /** What listens, for the message: `paste`. */
  service: string;
  /** The setting that chooses the port. */
  portSetting: string;
}

/**
 * Listens.
 *
 * @returns the port, which the system chose where 0 was asked for
 * @throws {Failure} CANNOT_LISTEN (exit 1) with the reason and the setting to change
 */
export async function listen(
  app: FastifyInstance,
  { host, port, service, portSetting }: ListenOptions,
): Promise<number> {
  try {
    await app.listen({ host, port, listenTextResolver: (address) => `listening on ${address}` });
  } catch (error) {
    throw new Failure({
      code: 'CANNOT_LISTEN',
      message: `${service} cannot listen on ${host}:${port}: ${reason(error)}`,
      hint: hintFor(error, portSetting),
      exit: EXIT.failed,
      cause: error,
    });
  }
  return (app.server.address() as AddressInfo).port;
}

function reason(error: unknown): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return 'the port is taken by another process';
    case 'EACCES':
      return 'this user may not use that port';
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'that is no address of this machine';
    default:
      return messageOf(error);
  }
}

function hintFor(error: unknown, portSetting: string): string {
  switch (codeOf(error)) {
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return 'set SVC_HOST to an address of this machine, 127.0.0.1 or 0.0.0.0';
    default:
      return `set ${portSetting} to a free port`;
  }
}
