import { createRequire } from 'node:module';
import type { Server, Socket } from 'node:net';

/** What is used of the package `smpp`, which brings no types. */
export type SmppLibrary = {
  connect(
    options: {
      host: string;
      port: number;
      tls: boolean;
      servername?: string;
      rejectUnauthorized?: boolean;
    },
    onConnect: () => void,
  ): SmppSession;
  createServer(onSession: (session: SmppSession) => void): Server;
  createServer(tls: { key: string; cert: string }, onSession: (session: SmppSession) => void): Server;
  /** From a name like ESME_RTHROTTLED to its command_status. */
  errors: Readonly<Record<string, number>>;
};

export type SmppFields = Record<string, string | number>;
type Ask = (fields: SmppFields, onAnswer: (answer: SmppPdu) => void) => boolean;

export type SmppSession = {
  readonly socket: Socket;
  /** False when nothing was sent, and then nothing is called back. */
  readonly bind_transceiver: Ask;
  readonly submit_sm: Ask;
  readonly deliver_sm: Ask;
  readonly enquire_link: Ask;
  readonly unbind: Ask;
  /** For an answer; what was asked is sent by the functions above. */
  send(answer: SmppPdu, onSent?: () => void): boolean;
  close(): void;
  destroy(): void;
  on(event: 'error', listener: (error: NodeJS.ErrnoException) => void): void;
  on(event: 'close', listener: () => void): void;
  /** `pdu` gets every one; the name of a command gets that command alone. */
  on(event: string, listener: (pdu: SmppPdu) => void): void;
};

export type SmppPdu = {
  readonly command: string;
  readonly command_status: number;
  isResponse(): boolean;
  response(fields?: SmppFields): SmppPdu;
  readonly system_id?: string;
  readonly password?: string;
  readonly interface_version?: number;
  readonly source_addr_ton?: number;
  readonly source_addr_npi?: number;
  readonly source_addr?: string;
  readonly dest_addr_ton?: number;
  readonly dest_addr_npi?: number;
  readonly destination_addr?: string;
  readonly data_coding?: number;
  readonly short_message?: { message: string };
  readonly message_payload?: { message: string };
};

export const smpp: SmppLibrary = createRequire(import.meta.url)('smpp');
