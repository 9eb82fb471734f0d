// The reference page of an API, drawn on the server from its OpenAPI document; it loads nothing but our style sheet.
import { html } from 'ghtml';
import { METHOD_ORDER, type OpenApiDocument, type Operation, type Parameter } from './openapi.ts';

interface Entry {
  method: string;
  path: string;
  operation: Operation;
}

interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  default?: unknown;
  examples?: unknown[];
  additionalProperties?: Schema | boolean;
}

/** The page as HTML. */
export function docsPage(document: OpenApiDocument, styleSheetUrl: string): string {
  const entries = entriesOf(document);
  const base = (document.servers as Array<{ url: string }>)[0]?.url ?? '';
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <title>${document.info.title} API</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${styleSheetUrl}">
</head>
<body>
  <a class="skip" href="#main">Skip to the operations</a>
  <header>
    <p class="brand"><a href="/">${document.info.title}</a></p>
    <p><a href="/api/openapi.json">OpenAPI document</a></p>
  </header>
  <div class="layout">
    <nav aria-label="Operations"><ul>!${entries.map(navigationItem).join('')}</ul></nav>
    <main id="main">
      <h1>${document.info.title} API</h1>
      <p>${document.info.description}</p>
      <p>Paths are relative to <code>${base}</code>.</p>
      !${entries.map((entry) => section(entry, base)).join('')}
    </main>
  </div>
</body>
</html>
`;
}

function entriesOf({ paths }: OpenApiDocument): Entry[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHOD_ORDER.flatMap((method) => {
      const operation = item[method.toLowerCase()];
      return operation ? [{ method, path, operation }] : [];
    }),
  );
}

function navigationItem({ method, path, operation }: Entry): string {
  return html`<li><a href="#${operation.operationId}"><b class="method">${method}</b> ${path}</a></li>`;
}

function section({ method, path, operation }: Entry, api: string): string {
  const base = operation.servers?.[0]?.url ?? api;
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const bodySchema = Object.values(requestBody?.content ?? {})[0]?.schema as Schema | undefined;
  return html`
<section id="${operationId}" aria-labelledby="${operationId}-title">
  <h2 id="${operationId}-title"><b class="method">${method}</b> <code>${path}</code></h2>
  <p>${summary}.${description ? ` ${description}` : ''}</p>
  !${parameters.length > 0 ? parameterTable(parameters) : ''}
  !${bodySchema ? html`<h3>Body</h3>!${fieldTable(bodySchema, 'Fields of the body')}` : ''}
  <h3>Example</h3>
  <pre tabindex="0" aria-label="Example with curl"><code>${curlExample(method, base + path, parameters, bodySchema)}</code></pre>
  <h3>Replies</h3>
  !${Object.entries(responses)
    .map(([status, { description: about, content }]) => {
      const types = Object.keys(content ?? {});
      const schema = content?.['application/json']?.schema as Schema | undefined;
      return html`<details><summary><b class="status">${status}</b> ${about}</summary>!${
        schema
          ? fieldTable(schema, `Fields of the ${status} reply`)
          : html`<p>${types.join(', ') || 'No body.'}</p>`
      }</details>`;
    })
    .join('')}
</section>`;
}

function parameterTable(parameters: Parameter[]): string {
  const rows = parameters.map(
    (parameter) => html`<tr>
      <th scope="row"><code>${parameter.name}</code></th>
      <td>${parameter.in}</td>
      <td>${typeOf(parameter.schema as Schema)}</td>
      <td>${parameter.required ? 'required' : 'optional'}. ${String(parameter.description ?? '')}</td>
    </tr>`,
  );
  return html`<h3>Parameters</h3><table aria-label="Parameters">
    <thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">About</th></tr></thead>
    <tbody>!${rows.join('')}</tbody></table>`;
}

function fieldTable(schema: Schema, label: string): string {
  const rows = fieldsOf(schema, '').map(
    ({ name, field, required }) => html`<tr>
      <th scope="row"><code>${name}</code></th>
      <td>${typeOf(field)}</td>
      <td>${[required ? '' : 'Optional.', field.description ?? '', constraints(field)].filter(Boolean).join(' ')}</td>
    </tr>`,
  );
  return html`<table aria-label="${label}">
    <thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">About</th></tr></thead>
    <tbody>!${rows.join('')}</tbody></table>`;
}

/** The fields of an object, and those of objects in it as `outer.inner`. */
function fieldsOf(schema: Schema, prefix: string): Array<{ name: string; field: Schema; required: boolean }> {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.items?.properties ? field.items : field;
    const suffix = field.items ? '[]' : '';
    return [
      { name: prefix + name, field, required: schema.required?.includes(name) ?? false },
      ...fieldsOf(inner, `${prefix}${name}${suffix}.`),
    ];
  });
}

function typeOf(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(', ');
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.format) return schema.format;
  return [schema.type ?? 'any'].flat().join(' or ');
}

function constraints(schema: Schema): string {
  const { minLength, maxLength, pattern, default: fallback } = schema;
  return [
    maxLength !== undefined && `${minLength ?? 0} to ${maxLength} characters.`,
    pattern !== undefined && schema.format === undefined && `Matches ${pattern}.`,
    fallback !== undefined && `Default ${JSON.stringify(fallback)}.`,
  ]
    .filter((part) => part !== false)
    .join(' ');
}

function curlExample(method: string, url: string, parameters: Parameter[], body: Schema | undefined): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(({ name }) => `${name}=…`);
  const address = `'${url.replaceAll(/\{(\w+)\}/g, '<$1>')}${query.length > 0 ? `?${query.join('&')}` : ''}'`;
  const parts = [
    'curl',
    ...(method === 'GET' || (method === 'POST' && body) ? [] : [`-X ${method}`]),
    address,
  ];
  if (body)
    parts.push(`\\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(exampleBody(body))}'`);
  return parts.join(' ');
}

function exampleBody({ properties = {}, required = [] }: Schema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, field]) => [name, field.examples?.[0] ?? field.enum?.[2] ?? field.enum?.[0] ?? '…']),
  );
}
