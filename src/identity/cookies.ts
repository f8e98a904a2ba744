import type { FastifyReply, FastifyRequest } from 'fastify';

/** `browser` ties forms and codes to a browser, `session` is a login, `device` remembers who logged in here before. */
export type CookieName = 'browser' | 'session' | 'device';

export type Cookies = {
  read(request: FastifyRequest, name: CookieName): string | undefined;
  set(reply: FastifyReply, name: CookieName, value: string, maxAgeSeconds?: number): void;
  clear(reply: FastifyReply, name: CookieName): void;
};

/**
 * Cookies of the login pages. Over https they carry the prefix `__Host-`, so that no neighbouring host can plant one;
 * `Lax`, because people arrive here by links from partners.
 */
export function createCookies(ssoUrl: string): Cookies {
  const secure = ssoUrl.startsWith('https:');
  const fullName = (name: CookieName) => `${secure ? '__Host-' : ''}tollgate-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read(request, name) {
      const prefix = `${fullName(name)}=`;
      const found = request.headers.cookie?.split(';').map((pair) => pair.trim());
      return found?.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) || undefined;
    },
    set(reply, name, value, maxAgeSeconds) {
      const life = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
      reply.header('set-cookie', `${fullName(name)}=${value}; ${attributes}${life}`);
    },
    clear(reply, name) {
      reply.header('set-cookie', `${fullName(name)}=; ${attributes}; Max-Age=0`);
    },
  };
}
