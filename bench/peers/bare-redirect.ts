// The bare peer of the redirect: fastify answers 302 from a Map and counts nothing.
import { fastify } from 'fastify';

const links = new Map<string, string>();
for (let index = 0; index < Number(process.env.LINKS ?? 1); index++) {
  links.set(
    `b${index.toString(36).padStart(6, '0')}`,
    `https://example.com/some/long/path/${index}?utm_source=bench`,
  );
}
const app = fastify();

app.get('/', async () => ({ ok: true }));
app.get<{ Params: { code: string } }>('/:code', (request, reply) => {
  const destination = links.get(request.params.code);
  if (destination === undefined) reply.code(404).send();
  else reply.redirect(destination, 302);
});

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
process.once('SIGTERM', () => process.exit(0));
