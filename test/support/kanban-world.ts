// One of everything that a path of the kanban API can name, and for each route a request that its owner may make. Made
// for tests that go through the table of routes: a route that is not known here makes them fail.
import type { Route } from '../../src/server/http/route.ts';
import { type Furnished, furnish, invite, type Person, sealed } from './kanban-server.ts';

export interface World extends Furnished {
  member: Person;
  /** Ids by what a path calls them: the segment before the parameter. */
  ids: Record<string, string>;
}

/** Furnishes a workspace with one of everything. */
export async function createWorld(server: { url: string }): Promise<World> {
  const home = await furnish(server);
  const { owner, workspaceId, boardId, columnId, cardId } = home;
  const member = await invite(server, home);
  const made = async (path: string, json: unknown): Promise<string> => {
    const { status, body } = await owner.post(path, json);
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body.id;
  };
  const checklists = await made(`/cards/${cardId}/checklists`, { encTitle: sealed('checklist') });
  const ids: Record<string, string> = {
    workspaces: workspaceId,
    members: member.id,
    assignments: member.id,
    boards: boardId,
    columns: columnId,
    cards: cardId,
    checklists,
    labels: await made(`/boards/${boardId}/labels`, { encName: sealed('label'), color: '#112233' }),
    milestones: await made(`/boards/${boardId}/milestones`, { encName: sealed('milestone') }),
    'card-templates': await made(`/boards/${boardId}/card-templates`, {
      encName: sealed('template'),
      encContent: sealed('content'),
    }),
    'custom-fields': await made(`/boards/${boardId}/custom-fields`, {
      encName: sealed('field'),
      kind: 'text',
    }),
    comments: await made(`/cards/${cardId}/comments`, { encBody: sealed('comment') }),
    'checklist-items': await made(`/checklists/${checklists}/items`, { encText: sealed('item') }),
    attachments: await made(`/cards/${cardId}/attachments`, {
      encName: sealed('a'),
      encContent: sealed('c'),
    }),
    automations: await made(`/boards/${boardId}/automations`, {
      encName: sealed('automation'),
      trigger: { verb: 'CARD_CREATED' },
      actions: [{ type: 'ARCHIVE' }],
    }),
    webhooks: await made(`/boards/${boardId}/webhooks`, { url: 'https://example.com/' }),
  };
  // The creation of the webhook is the first thing that it is told.
  const deliveries = await owner.get(`/webhooks/${ids.webhooks}/deliveries`);
  ids.deliveries = deliveries.body.items[0].id;
  return { ...home, member, ids };
}

/** Routes of a workspace and what is in it: those whose path names something of it. */
export function isOfWorkspace({ path }: Route): boolean {
  return path.includes('{') && !path.startsWith('/me/') && !path.startsWith('/auth/');
}

/** The path of a route with ids in it. */
export function pathTo({ path }: Route, ids: Record<string, string>): string {
  const segments = path.split('/');
  return segments
    .map((segment, index) => {
      if (!segment.startsWith('{')) return segment;
      const id = ids[segments[index - 1] ?? ''];
      if (id === undefined) throw new Error(`${path}: nothing is known of ${segment}`);
      return id;
    })
    .join('/');
}

const name = { encName: sealed('n') };

/** A body that each operation takes; none for those without. */
export function bodyFor({ operationId, body }: Route, { ids, workspaceId, owner, member }: World): unknown {
  if (!body) return undefined;
  const bodies: Record<string, unknown> = {
    changeWorkspace: name,
    inviteMember: { userId: owner.id, encWorkspaceKey: sealed('k') },
    changeRole: { role: 'member' },
    rotateKeys: {
      epoch: 2,
      members: [owner, member].map(({ id }) => ({ userId: id, encWorkspaceKey: sealed('k') })),
      boards: [{ boardId: ids.boards, encBoardKeys: [{ epoch: 1, encBoardKey: sealed('k') }] }],
    },
    createBoard: { ...name, encBoardKey: sealed('k') },
    changeBoard: name,
    createColumn: name,
    changeColumn: { wipLimit: 3 },
    createLabel: { ...name, color: '#000000' },
    changeLabel: name,
    createMilestone: name,
    changeMilestone: { archived: true },
    createCardTemplate: { ...name, encContent: sealed('c') },
    createCustomField: { ...name, kind: 'date' },
    changeCustomField: name,
    createCard: { encTitle: sealed('t') },
    changeCard: { completed: true },
    moveCard: { toColumnId: ids.columns },
    attachLabel: { labelId: ids.labels },
    detachLabel: { labelId: ids.labels },
    assign: { userId: member.id },
    setMilestone: { milestoneId: ids.milestones },
    createComment: { encBody: sealed('b') },
    changeComment: { encBody: sealed('d') },
    createChecklist: { encTitle: sealed('t') },
    changeChecklist: { encTitle: sealed('u') },
    createChecklistItem: { encText: sealed('t') },
    changeChecklistItem: { done: true },
    addAttachment: { encName: sealed('n'), encContent: sealed('c') },
    createAutomation: { ...name, trigger: { verb: 'CARD_MOVED' }, actions: [{ type: 'ARCHIVE' }] },
    changeAutomation: { enabled: false },
    createWebhook: { url: 'https://example.com/' },
    changeWebhook: { enabled: false },
  };
  if (!(operationId in bodies)) throw new Error(`${operationId} of ${workspaceId}: no body is known for it`);
  return bodies[operationId];
}
