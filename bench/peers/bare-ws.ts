// The bare peer of the relay: ws, with nothing around it.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((_request, response) => response.end('ok'));
new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (ws) =>
  ws.on('message', () => {}),
);
server.listen(Number(process.env.PORT), '127.0.0.1');
