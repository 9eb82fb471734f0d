// The bare peer of the event stream: node:http that keeps responses open, and writes what it is told to to all of them.
import { createServer, type ServerResponse } from 'node:http';

const open = new Set<ServerResponse>();
createServer((request, response) => {
  if (request.url === '/') return response.end('ok');
  if (request.method === 'POST') {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    return request.on('end', () => {
      const tick = Buffer.concat(chunks);
      for (const stream of open) stream.write(tick);
      response.end();
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write(':\n\n');
  open.add(response);
  return response.on('close', () => open.delete(response));
}).listen(Number(process.env.PORT), '127.0.0.1');
