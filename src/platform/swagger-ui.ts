import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FastifyPluginAsync } from 'fastify';

const hidden = { schema: { hide: true } } as const;

const index = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Tollgate API</title>
    <link rel="stylesheet" href="swagger-ui.css">
    <link rel="icon" type="image/png" href="favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="swagger-ui-bundle.js"></script>
    <script src="start.js"></script>
  </body>
</html>
`;

/** The interactive reference. Its files come from the installed package, so it works without the internet. */
export const swaggerUi: FastifyPluginAsync<{ documentUrl: string }> = async (app, { documentUrl }) => {
  const start = `SwaggerUIBundle({
  url: ${JSON.stringify(documentUrl)},
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
});
`;
  // Swagger UI writes style attributes and shows pictures that it carries as data; nothing comes from outside.
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

  const serve = (path: string, type: string, content: string | Buffer) =>
    app.get(path, hidden, (_request, reply) =>
      reply
        .header('content-security-policy', policy)
        .header('cache-control', 'public, max-age=300')
        .type(type)
        .send(content),
    );

  app.get('/swagger-ui', hidden, (_request, reply) => reply.redirect(`${app.prefix}/swagger-ui/index.html`));
  app.get('/swagger-ui/', hidden, (_request, reply) => reply.redirect(`${app.prefix}/swagger-ui/index.html`));
  serve('/swagger-ui/index.html', 'text/html; charset=utf-8', index);
  serve('/swagger-ui/start.js', 'text/javascript; charset=utf-8', start);
  serve('/swagger-ui/swagger-ui.css', 'text/css; charset=utf-8', asset('swagger-ui.css'));
  serve('/swagger-ui/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', asset('swagger-ui-bundle.js'));
  serve('/swagger-ui/favicon-32x32.png', 'image/png', asset('favicon-32x32.png'));
};

const { resolve } = createRequire(import.meta.url);

function asset(name: string): Buffer {
  return readFileSync(resolve(`swagger-ui-dist/${name}`));
}
