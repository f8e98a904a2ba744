/** The limit of any server on node:http: reads the request and answers bytes that it has had from the beginning. */
import { createServer } from 'node:http';

const { BARE_PORT: port = '', BARE_BODY: body = '' } = process.env;
const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length };

createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, headers);
    response.end(body);
  });
}).listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
