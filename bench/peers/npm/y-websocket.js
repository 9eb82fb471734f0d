// y-websocket 2.1 as its own server starts it.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import utils from 'y-websocket/bin/utils';

const server = createServer((_request, response) => response.end('okay'));
const sockets = new WebSocketServer({ noServer: true });
sockets.on('connection', utils.setupWSConnection);
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (ws) => sockets.emit('connection', ws, request));
});
server.listen(Number(process.env.PORT), '127.0.0.1');
