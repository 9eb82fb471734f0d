// A receiver of webhooks that takes everything, but for what goes to /dead, which it never answers.
import { createServer } from 'node:http';

let received = 0;
const server = createServer((request, response) => {
  if (request.url === '/count') return response.end(String(received));
  if (request.url?.startsWith('/dead')) return undefined;
  request.resume();
  return request.on('end', () => {
    received++;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
