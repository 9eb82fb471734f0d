// hocuspocus 3, as its documentation starts it.
import { Server } from '@hocuspocus/server';

const server = new Server({ port: Number(process.env.PORT), address: '127.0.0.1', quiet: true });
server.listen();
