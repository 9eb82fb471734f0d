// A kanban server for tests, and people who use it. Their keys are texts of the right form: the server never looks
// into them.
import type { Route } from '../../src/server/http/route.ts';
import { createKanbanApp, kanbanRoutes } from '../../src/server/kanban/app.ts';
import { openLiveStreams } from '../../src/server/kanban/live-stream.ts';
import { openKanbanService } from '../../src/services/kanban/kanban-service.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

export type KanbanServer = TestServer;

export const UNLIMITED = {
  KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0',
  KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_READS_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_WRITES_PER_MINUTE: '0',
};

/** Starts a kanban server; unlimited unless the settings say otherwise. */
export function startKanbanServer(options: TestServerOptions = {}): Promise<KanbanServer> {
  return startTestServer(
    { name: 'kanban', create: createKanbanApp, origin: (config) => config.kanban },
    { ...options, settings: { ...UNLIMITED, ...options.settings } },
  );
}

// biome-ignore lint/suspicious/noExplicitAny: a test says by what it expects which form an answer has.
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

export interface Call {
  method?: string;
  path: string;
  json?: unknown;
  headers?: Record<string, string>;
}

/** Calls the API; answers status, headers and body. */
export async function call(
  server: { url: string },
  { method = 'GET', path, json, headers }: Call,
): Promise<Answer> {
  const response = await fetch(`${server.url}/api${path}`, {
    method,
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** Some ciphertext: of the form that encrypted fields have. */
export function sealed(text: string): string {
  return `v1.${Buffer.from('nonce').toString('base64url')}.${Buffer.from(text).toString('base64url')}`;
}

export interface Person {
  id: string;
  email: string;
  authHash: string;
  cookie: string;
  get(path: string): Promise<Answer>;
  post(path: string, json?: unknown): Promise<Answer>;
  put(path: string, json?: unknown): Promise<Answer>;
  patch(path: string, json?: unknown): Promise<Answer>;
  delete(path: string, json?: unknown): Promise<Answer>;
}

let people = 0;

/** What registers an account. */
export function registration(email: string) {
  return {
    email,
    authHash: `hash of ${email}`,
    publicKey: Buffer.alloc(32, 9).toString('base64url'),
    encPrivateKey: sealed('private key'),
    encSymmetricKey: sealed('symmetric key'),
    encRecoveryBlob: sealed('recovery blob'),
  };
}

/** Registers somebody and signs them in. */
export async function join(server: { url: string }, name = 'person'): Promise<Person> {
  const email = `${name}-${++people}@example.org`;
  const account = registration(email);
  const registered = await call(server, { method: 'POST', path: '/auth/register', json: account });
  if (registered.status !== 201) throw new Error(JSON.stringify(registered.body));
  const cookie = await signIn(server, account);
  const as =
    (method: string) =>
    (path: string, json?: unknown): Promise<Answer> =>
      call(server, { method, path, json, headers: { cookie } });
  return {
    id: registered.body.user.id,
    email,
    authHash: account.authHash,
    cookie,
    get: as('GET'),
    post: as('POST'),
    put: as('PUT'),
    patch: as('PATCH'),
    delete: as('DELETE'),
  };
}

/** Signs in; answers the cookie. */
export async function signIn(
  server: { url: string },
  { email, authHash }: { email: string; authHash: string },
): Promise<string> {
  const answer = await call(server, { method: 'POST', path: '/auth/login', json: { email, authHash } });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return cookieOf(answer);
}

/** The cookie that an answer sets, as it is sent back. */
export function cookieOf({ headers }: Answer): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

export interface Furnished {
  owner: Person;
  workspaceId: string;
  boardId: string;
  columnId: string;
  cardId: string;
}

/** A workspace with a board, a column and a card. */
export async function furnish(server: { url: string }): Promise<Furnished> {
  const owner = await join(server, 'owner');
  const made = async (path: string, json: unknown): Promise<string> => {
    const answer = await owner.post(path, json);
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  };
  const workspaceId = await made('/workspaces', {
    encName: sealed('workspace'),
    encWorkspaceKey: sealed('workspace key'),
  });
  const boardId = await made(`/workspaces/${workspaceId}/boards`, {
    encName: sealed('board'),
    encBoardKey: sealed('board key'),
  });
  const columnId = await made(`/boards/${boardId}/columns`, { encName: sealed('column') });
  const cardId = await made(`/columns/${columnId}/cards`, { encTitle: sealed('card') });
  return { owner, workspaceId, boardId, columnId, cardId };
}

/** Somebody new in a workspace. */
export async function invite(
  server: { url: string },
  { owner, workspaceId }: Pick<Furnished, 'owner' | 'workspaceId'>,
  role: 'member' | 'admin' = 'member',
): Promise<Person> {
  const person = await join(server, role);
  const path = `/workspaces/${workspaceId}/members`;
  await owner.post(path, { userId: person.id, encWorkspaceKey: sealed('workspace key') });
  if (role === 'admin') await owner.patch(`${path}/${person.id}`, { role });
  return person;
}

/** The table of routes, as a server has it. */
export async function routesOf({ platform }: KanbanServer): Promise<Route[]> {
  const service = await openKanbanService(platform);
  const live = await openLiveStreams(service);
  const routes = kanbanRoutes(service, live);
  await live.close();
  await service.close();
  return routes;
}
