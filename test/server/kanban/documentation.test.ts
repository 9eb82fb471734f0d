// The document that describes the API, against the API and against the specification.
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, type Json, type KanbanServer, startKanbanServer } from '../../support/kanban-server.ts';

let server: KanbanServer;
let document: Json;
beforeAll(async () => {
  server = await startKanbanServer();
  document = (await call(server, { path: '/openapi.json' })).body;
});
afterAll(() => server.close());

const listed = (): string[] =>
  Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );

// kanban-api.md, Endpoints, but for the live parts: deliveries, GET /boards/:id/live.
const SPECIFIED = `
  POST /auth/register, POST /auth/login-init, POST /auth/login, POST /auth/logout, POST /auth/recovery,
  POST /auth/2fa/enroll, POST /auth/2fa/verify, POST /auth/2fa/disable, POST /auth/webauthn/register,
  POST /auth/webauthn/verify, POST /auth/ws-ticket, GET /me, GET /me/export, DELETE /me, GET /me/notifications,
  GET /workspaces, POST /workspaces, GET /workspaces/{id}, PATCH /workspaces/{id}, DELETE /workspaces/{id},
  GET /workspaces/{id}/members, POST /workspaces/{id}/members, DELETE /workspaces/{id}/members/{userId},
  GET /workspaces/{wsId}/boards, POST /workspaces/{wsId}/boards, GET /boards/{id}, PATCH /boards/{id},
  DELETE /boards/{id}, GET /boards/{id}/columns, POST /boards/{id}/columns, PATCH /columns/{id}, DELETE /columns/{id},
  POST /columns/{id}/cards, GET /boards/{id}/cards, GET /cards/{id}, PATCH /cards/{id}, DELETE /cards/{id},
  PATCH /cards/{id}/move, POST /cards/{id}/labels, DELETE /cards/{id}/labels, POST /cards/{id}/assignments,
  DELETE /cards/{id}/assignments/{userId}, PUT /cards/{id}/milestone, POST /cards/{id}/comments,
  POST /cards/{id}/attachments, GET /cards/{id}/attachments, GET /boards/{id}/labels, POST /boards/{id}/labels,
  PATCH /labels/{id}, DELETE /labels/{id}, GET /boards/{id}/milestones, POST /boards/{id}/milestones,
  PATCH /milestones/{id}, DELETE /milestones/{id}, GET /boards/{id}/card-templates, POST /boards/{id}/card-templates,
  DELETE /card-templates/{id}, GET /boards/{id}/custom-fields, POST /boards/{id}/custom-fields,
  PATCH /custom-fields/{id}, DELETE /custom-fields/{id}, PATCH /comments/{id}, DELETE /comments/{id},
  GET /cards/{id}/checklists, POST /cards/{id}/checklists, PATCH /checklists/{id}, DELETE /checklists/{id},
  POST /checklists/{id}/items, PATCH /checklist-items/{id}, DELETE /checklist-items/{id}, GET /boards/{id}/automations,
  POST /boards/{id}/automations, PATCH /automations/{id}, DELETE /automations/{id}, GET /boards/{id}/webhooks,
  POST /boards/{id}/webhooks, PATCH /webhooks/{id}, DELETE /webhooks/{id}, GET /health, GET /boards/{id}/activity`
  .split(',')
  .map((route) => route.trim());

test('is a valid OpenAPI 3.1 document that lists what the specification does', async () => {
  expect((await new Validator().validate(document)).errors ?? []).toEqual([]);
  expect(document.openapi).toBe('3.1.1');
  expect(listed()).toEqual(expect.arrayContaining(SPECIFIED));
  const ids = Object.values<Json>(document.paths).flatMap((item) =>
    Object.values<Json>(item).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('lists nothing that does not answer, and says what needs a session', async () => {
  for (const route of listed()) {
    const [method = '', path = ''] = route.split(' ');
    const { status } = await call(server, {
      method,
      path: path.replaceAll(/\{\w+\}/g, `c${'0'.repeat(24)}`),
    });
    const { security } = document.paths[path][method.toLowerCase()];
    // Public ones answer 200, or 400 for want of a body.
    expect({ route, status }).toEqual({ route, status: security ? 401 : path === '/health' ? 200 : 400 });
  }
});

test('is shown as a page without anything from elsewhere', async () => {
  const response = await fetch(`${server.url}/api/docs`);
  const html = await response.text();
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(html).toContain('/cards/{id}/move');
  expect(html).not.toMatch(/(src|href)="https?:/);
  expect((await fetch(server.url, { redirect: 'manual' })).headers.get('location')).toBe('/api/docs');
});
