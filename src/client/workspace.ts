// Workspaces and boards from the client's side: their keys, and the fields under them.
import type { Account } from './account.ts';
import { ApiError } from './http.ts';
import { decrypt, encrypt, fromBase64, newKey, openSealed, sealTo } from './primitives.ts';

/** A workspace whose key is open. */
export interface OpenWorkspace {
  id: string;
  /** Undefined when the key does not open it, as when a change of it and of the keys crossed: give it a new one. */
  name: string | undefined;
  role: 'owner' | 'admin' | 'member';
  key: Uint8Array;
  keyEpoch: number;
  /** Whether somebody left since the keys were made. */
  rotationDue: boolean;
}

/** A board whose keys are open. */
export interface OpenBoard {
  id: string;
  workspaceId: string;
  name: string;
  /** By epoch; the newest encrypts, all of them read. */
  keys: Map<number, Uint8Array>;
}

interface WorkspaceReply {
  id: string;
  encName: string;
  role: OpenWorkspace['role'];
  encWorkspaceKey: string;
  keyEpoch: number;
  rotationDue: boolean;
}

interface BoardReply {
  id: string;
  workspaceId: string;
  encName: string;
  encBoardKeys: Array<{ epoch: number; encBoardKey: string }>;
}

interface MemberReply {
  userId: string;
  publicKey: string;
}

interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

const WORKSPACE_NAME = 'workspace.name';
const BOARD_KEY = 'board.key';
const BOARD_NAME = 'board.name';

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Creates a workspace under a new key. */
export async function createWorkspace(account: Account, name: string): Promise<OpenWorkspace> {
  const key = newKey();
  const reply = await account.transport.call<WorkspaceReply>('POST', '/workspaces', {
    encName: encrypt(key, encode(name), WORKSPACE_NAME),
    encWorkspaceKey: sealTo(account.keys.publicKey, key),
  });
  return open(account, reply);
}

/** Opens a workspace that one is a member of. */
export async function openWorkspace(account: Account, workspaceId: string): Promise<OpenWorkspace> {
  return open(account, await account.transport.call<WorkspaceReply>('GET', `/workspaces/${workspaceId}`));
}

/** Opens every workspace that one is a member of. */
export async function listWorkspaces(account: Account): Promise<OpenWorkspace[]> {
  return (await everything<WorkspaceReply>(account, '/workspaces')).map((reply) => open(account, reply));
}

function open(account: Account, { encName, encWorkspaceKey, ...reply }: WorkspaceReply): OpenWorkspace {
  const key = openSealed(account.keys, encWorkspaceKey);
  const { id, role, keyEpoch, rotationDue } = reply;
  return { id, role, keyEpoch, rotationDue, key, name: nameUnder(key, encName) };
}

function nameUnder(key: Uint8Array, encName: string): string | undefined {
  try {
    return decode(decrypt(key, encName, WORKSPACE_NAME));
  } catch {
    // The boards open all the same.
    return undefined;
  }
}

/**
 * Makes a request with something under the workspace key: once more, when that key was replaced since the workspace
 * was opened.
 */
async function underCurrentKey<T>(
  account: Account,
  workspace: OpenWorkspace,
  request: (workspace: OpenWorkspace) => Promise<T>,
): Promise<T> {
  try {
    return await request(workspace);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'CONFLICT')) throw error;
    const current = await openWorkspace(account, workspace.id);
    if (current.keyEpoch === workspace.keyEpoch) throw error;
    return request(current);
  }
}

/**
 * Finds somebody, so that their key's fingerprint can be compared with them before they are invited.
 *
 * @throws {ApiError} NOT_FOUND
 */
export async function lookUp(
  { transport }: Account,
  email: string,
): Promise<{ id: string; email: string; publicKey: Uint8Array }> {
  const found = await transport.call<{ id: string; email: string; publicKey: string }>(
    'GET',
    `/users/lookup?email=${encodeURIComponent(email)}`,
  );
  return { ...found, publicKey: fromBase64(found.publicKey) };
}

/**
 * Lets somebody in, with the workspace key sealed for them.
 *
 * @throws {ApiError} CONFLICT when they are in already
 */
export async function invite(
  account: Account,
  workspace: OpenWorkspace,
  { id, publicKey }: { id: string; publicKey: Uint8Array },
): Promise<void> {
  await underCurrentKey(account, workspace, ({ key, keyEpoch }) =>
    account.transport.call('POST', `/workspaces/${workspace.id}/members`, {
      userId: id,
      encWorkspaceKey: sealTo(publicKey, key),
      keyEpoch,
    }),
  );
}

/** Removes a member and replaces every key that they knew; answers the workspace under its new key. */
export async function removeMember(
  account: Account,
  workspace: OpenWorkspace,
  userId: string,
): Promise<OpenWorkspace> {
  await account.transport.call('DELETE', `/workspaces/${workspace.id}/members/${userId}`);
  return rotateKeys(account, workspace);
}

/**
 * Replaces the keys of a workspace: a new workspace key for those who are in, a new key for each board, the older ones
 * wrapped anew so that what is there stays readable.
 *
 * @throws {ApiError} CONFLICT when keys, members or boards changed meanwhile: open the workspace again and repeat it
 */
export async function rotateKeys(account: Account, workspace: OpenWorkspace): Promise<OpenWorkspace> {
  const { transport } = account;
  const key = newKey();
  const epoch = workspace.keyEpoch + 1;
  const members = await everything<MemberReply>(account, `/workspaces/${workspace.id}/members`);
  const boards = await everything<BoardReply>(account, `/workspaces/${workspace.id}/boards?archived=1`);
  const rotated = await transport.call<WorkspaceReply>('POST', `/workspaces/${workspace.id}/keys`, {
    epoch,
    ...(workspace.name !== undefined && { encName: encrypt(key, encode(workspace.name), WORKSPACE_NAME) }),
    members: members.map(({ userId, publicKey }) => ({
      userId,
      encWorkspaceKey: sealTo(fromBase64(publicKey), key),
    })),
    boards: boards.map(({ id, encBoardKeys }) => ({
      boardId: id,
      encBoardKeys: [
        ...encBoardKeys.map((old) => ({
          epoch: old.epoch,
          encBoardKey: encrypt(key, decrypt(workspace.key, old.encBoardKey, BOARD_KEY), BOARD_KEY),
        })),
        { epoch, encBoardKey: encrypt(key, newKey(), BOARD_KEY) },
      ],
    })),
  });
  return open(account, rotated);
}

/** Creates a board under a new key. */
export async function createBoard(
  account: Account,
  workspace: OpenWorkspace,
  name: string,
): Promise<OpenBoard> {
  const key = newKey();
  return underCurrentKey(account, workspace, async (current) => {
    const reply = await account.transport.call<BoardReply>('POST', `/workspaces/${workspace.id}/boards`, {
      encName: encrypt(key, encode(name), BOARD_NAME),
      encBoardKey: encrypt(current.key, key, BOARD_KEY),
      keyEpoch: current.keyEpoch,
    });
    return unlock(current, reply);
  });
}

/** Opens a board of a workspace. */
export async function openBoard(
  { transport }: Account,
  workspace: OpenWorkspace,
  boardId: string,
): Promise<OpenBoard> {
  return unlock(workspace, await transport.call<BoardReply>('GET', `/boards/${boardId}`));
}

/** Opens the boards of a workspace. */
export async function listBoards(account: Account, workspace: OpenWorkspace): Promise<OpenBoard[]> {
  const boards = await everything<BoardReply>(account, `/workspaces/${workspace.id}/boards`);
  return boards.map((reply) => unlock(workspace, reply));
}

function unlock(workspace: OpenWorkspace, { id, workspaceId, encName, encBoardKeys }: BoardReply): OpenBoard {
  const keys = new Map(
    encBoardKeys.map(({ epoch, encBoardKey }) => [epoch, decrypt(workspace.key, encBoardKey, BOARD_KEY)]),
  );
  const board = { id, workspaceId, name: '', keys };
  return { ...board, name: decryptField(board, 'board.name', encName) };
}

/**
 * Encrypts a field of something on a board, under its newest key.
 *
 * @param field - `<resource>.<field>`, such as `card.title`: it cannot be passed off as another
 */
export function encryptField({ keys }: Pick<OpenBoard, 'keys'>, field: string, text: string): string {
  const newest = Math.max(...keys.keys());
  const key = keys.get(newest);
  if (!key) throw new Error('this board has no key');
  return encrypt(key, encode(text), field);
}

/**
 * Decrypts a field of something on a board: with the newest key first, then with older ones.
 *
 * @throws when none of the keys opens it
 */
export function decryptField({ keys }: Pick<OpenBoard, 'keys'>, field: string, encrypted: string): string {
  const newestFirst = [...keys].sort(([a], [b]) => b - a);
  for (const [, key] of newestFirst) {
    try {
      return decode(decrypt(key, encrypted, field));
    } catch {
      // Of another epoch.
    }
  }
  throw new Error(`no key of this board opens this ${field}`);
}

async function everything<T>({ transport }: Account, path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const mark = path.includes('?') ? '&' : '?';
    const page: Page<T> = await transport.call(
      'GET',
      `${path}${mark}limit=1000${cursor && `&cursor=${cursor}`}`,
    );
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}
