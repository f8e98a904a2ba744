import type { FastifyReply, FastifyRequest } from 'fastify';

export type Cookies<Name extends string = string> = {
  read(request: FastifyRequest, name: Name): string | undefined;
  /** Those of ours that the browser has sent. */
  names(request: FastifyRequest): Name[];
  set(reply: FastifyReply, name: Name, value: string, maxAgeSeconds?: number): void;
  clear(reply: FastifyReply, name: Name): void;
};

/**
 * Cookies of our pages. Over https they carry the prefix `__Host-`, so that no neighbouring host can plant one; `Lax`,
 * because people arrive here by links from partners.
 */
export function createCookies<Name extends string>(url: string): Cookies<Name> {
  const secure = url.startsWith('https:');
  const fullName = (name: Name) => `${secure ? '__Host-' : ''}tollgate-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read(request, name) {
      const prefix = `${fullName(name)}=`;
      return (
        pairsOf(request)
          .find((pair) => pair.startsWith(prefix))
          ?.slice(prefix.length) || undefined
      );
    },
    names(request) {
      const prefix = fullName('' as Name);
      return pairsOf(request)
        .filter((pair) => pair.startsWith(prefix))
        .map((pair) => pair.slice(prefix.length).split('=', 1)[0] as Name);
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

function pairsOf(request: FastifyRequest): string[] {
  return request.headers.cookie?.split(';').map((pair) => pair.trim()) ?? [];
}
