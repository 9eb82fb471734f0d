// Calls of the API. A browser keeps the session cookie itself; elsewhere it is kept here.

export interface Transport {
  /**
   * Calls the API.
   *
   * @throws {ApiError} for an answer that is none of success
   */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
}

export interface TransportOptions {
  /** Origin of the service: `https://kanban.example.org`. */
  url: string;
  fetch?: typeof fetch;
}

/** What the server refused, and why. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** `NOT_FOUND`, `TOTP_REQUIRED`, … */
  readonly code: string;
  readonly details: Record<string, unknown> | undefined;

  constructor(status: number, { code, message, details }: ApiErrorBody) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

interface ApiErrorBody {
  code: string;
  message: string;
  details?: Record<string, unknown>;
}

/** Makes the transport of one client. */
export function createTransport({ url, fetch: send = globalThis.fetch }: TransportOptions): Transport {
  let cookie: string | undefined;
  return {
    call: async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const response = await send(`${url}/api${path}`, {
        method,
        credentials: 'include',
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(cookie !== undefined && { cookie }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      for (const line of response.headers.getSetCookie()) cookie = line.split(';')[0];
      const text = await response.text();
      if (response.ok) return (text === '' ? undefined : JSON.parse(text)) as T;
      throw new ApiError(response.status, errorIn(text));
    },
  };
}

function errorIn(text: string): ApiErrorBody {
  try {
    return (JSON.parse(text) as { error: ApiErrorBody }).error;
  } catch {
    return { code: 'UNREADABLE', message: 'The server answered what is no answer of this API.' };
  }
}
