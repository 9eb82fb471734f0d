// The paste API as tests call it.

export interface Created {
  pasteId: string;
  url: string;
  rawUrl: string;
  deleteToken: string;
  expiresAt: string;
  hasPassword: boolean;
  burnAfterRead: boolean;
}

/** A request body that makes a paste, but for what a test says otherwise. */
export function aPaste(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { content: 'hello', expiresIn: '1h', ...fields };
}

/** Sends JSON. */
export function post(
  server: { url: string },
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Creates a paste; fails when the server does not. */
export async function create(
  server: { url: string },
  fields: Record<string, unknown> = {},
): Promise<Created> {
  const response = await post(server, '/api/pastes', aPaste(fields));
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return response.json() as Promise<Created>;
}

/** The JSON of a reply, as an object to look into. */
export async function json(response: Response | Promise<Response>): Promise<Record<string, unknown>> {
  return (await (await response).json()) as Record<string, unknown>;
}
