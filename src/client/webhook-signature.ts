// Verifying that a webhook came from the service (kanban-api.md, Outbound webhooks).

const TOLERANCE_SECONDS = 5 * 60;

export interface SignedDelivery {
  /** The body as it came, byte for byte. */
  body: string;
  /** Of the header `X-App-Signature`: `t=<unix_seconds>,v1=<hmac_sha256_hex>`, with one `v1` more during a rotation. */
  signature: string;
  /** `whsec_…`, the whole of it. */
  secret: string;
  /** Milliseconds since the epoch. */
  now?: number;
}

/** Whether a delivery is signed with the secret, and not older or newer than five minutes. */
export async function verifyWebhook({
  body,
  signature,
  secret,
  now = Date.now(),
}: SignedDelivery): Promise<boolean> {
  const parts = signature.split(',').map((part) => part.split('=', 2));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time) || Math.abs(now / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['verify']);
  for (const [name, hex = ''] of parts) {
    if (name !== 'v1' || !/^[0-9a-f]{64}$/.test(hex)) continue;
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    // Compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, bytes, encoder.encode(`${time}.${body}`))) return true;
  }
  return false;
}
