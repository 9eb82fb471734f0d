// Headers on every reply (contract, section 2).

// Pages load their own style sheet and script and nothing else; forms go home; nobody frames them.
function policy(formAction: string): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    `form-action ${formAction}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const CONTENT_SECURITY_POLICY = policy("'self'");

/** For a page whose form is answered with a redirect to anywhere: browsers hold redirects to `form-action` too. */
export const LEADING_ELSEWHERE_POLICY = policy("'self' http: https:");

export const SECURITY_HEADERS: Record<string, string> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** For user content served under our origin: scripts, forms and plugins in it stay dead (HTML, sandboxing). */
export const SANDBOX_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";
