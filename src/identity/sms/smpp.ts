import { isIP } from 'node:net';
import type { Logger } from '../../platform/log.ts';
import { type SmsConfig, SmsFailed, type SmsSender } from './sender.ts';
import { type SmppFields, type SmppPdu, smpp } from './smpp-library.ts';

type SmppConfig = Extract<SmsConfig, { kind: 'smpp' }>;

/**
 * SMPP 3.4 over one connection, which the first text opens and all share: gateways allow few bindings for one
 * account. A connection that is lost stays away until the next text opens another.
 */
export function createSmppSender(config: SmppConfig, log: Logger, enquireLinkMs = 30_000): SmsSender {
  const gateway = readGateway(config.url);
  let opening: Promise<Link> | undefined;
  let isClosed = false;

  function sharedLink(): Promise<Link> {
    if (isClosed) throw new SmsFailed('The SMS sender is closed.');
    if (opening) return opening;
    let isBound = false;
    opening = openLink(gateway, config, enquireLinkMs, (failure) => {
      opening = undefined;
      // When the binding itself fails, the texts that wait for it are told, and nobody else needs to know.
      if (isBound && !isClosed) log.warn({ reason: failure.message }, 'the SMS gateway is no longer bound');
    }).then((link) => {
      isBound = true;
      log.info({ host: gateway.host, port: gateway.port }, 'bound to the SMS gateway');
      return link;
    });
    return opening;
  }

  return {
    async send(phone, text) {
      const startedAt = performance.now();
      const link = await sharedLink();
      const remainingMs = config.timeoutMs - (performance.now() - startedAt);
      const answer = await link.ask('submit_sm', submission(config.from, phone, text), remainingMs);
      checkStatus(answer, 'refused the text');
    },
    async close() {
      isClosed = true;
      const link = await opening?.catch(() => undefined);
      await link?.close();
    },
  };
}

type Gateway = { host: string; port: number; tls: boolean };

function readGateway(text: string): Gateway {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['smpp:', 'ssmpp:'].includes(url.protocol) || url.hostname === '') {
    throw new Error('The address of the SMS gateway must read like smpp://host:port or ssmpp://host:port.');
  }
  const tls = url.protocol === 'ssmpp:';
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || (tls ? 3550 : 2775), tls };
}

function submission(from: string, phone: string, text: string): SmppFields {
  return {
    ...source(from),
    dest_addr_ton: typeOfNumber.international,
    dest_addr_npi: numberingPlan.telephone,
    destination_addr: phone.replace(/^\+/, ''),
    ...content(text),
  };
}

// SMPP 3.4, sections 5.2.5, 5.2.6 and 5.2.19.
const typeOfNumber = { unknown: 0, international: 1, alphanumeric: 5 };
const numberingPlan = { unknown: 0, telephone: 1 };
const dataCoding = { gatewayDefault: 0, ucs2: 8 };

function source(from: string): SmppFields {
  if (/^\+\d+$/.test(from)) {
    return {
      source_addr_ton: typeOfNumber.international,
      source_addr_npi: numberingPlan.telephone,
      source_addr: from.slice(1),
    };
  }
  // Bare digits are a short number, whose kind the gateway knows better.
  const isShortNumber = /^\d+$/.test(from);
  return {
    source_addr_ton: isShortNumber ? typeOfNumber.unknown : typeOfNumber.alphanumeric,
    source_addr_npi: numberingPlan.unknown,
    source_addr: from,
  };
}

/** ASCII as far as the GSM alphabet has it too (3GPP TS 23.038): no grave accent, no control characters. */
const plain = /^[\n\r\x20-\x5f\x61-\x7e]*$/;
/** Each of these takes two places in the GSM alphabet. */
const doubled = /[\\^{}[\]~|]/g;

function content(text: string): SmppFields {
  const isPlain = plain.test(text);
  const length = isPlain ? text.replace(doubled, '..').length : text.length;
  const fitsOneMessage = length <= (isPlain ? 160 : 70);
  return {
    data_coding: isPlain ? dataCoding.gatewayDefault : dataCoding.ucs2,
    // The gateway cuts a longer text into parts by itself.
    ...(fitsOneMessage ? { short_message: text } : { short_message: '', message_payload: text }),
  };
}

function checkStatus(answer: SmppPdu, refusal: string): void {
  if (answer.command_status === 0 && answer.command !== 'generic_nack') return;
  const name = Object.keys(smpp.errors).find((key) => smpp.errors[key] === answer.command_status);
  const status = name ?? `status 0x${answer.command_status.toString(16).padStart(8, '0')}`;
  throw new SmsFailed(`The SMS gateway ${refusal}: ${status}.`);
}

/** A connection with its binding. */
type Link = {
  ask(command: Command, fields: SmppFields, timeoutMs: number): Promise<SmppPdu>;
  close(): Promise<void>;
};
type Command = 'bind_transceiver' | 'submit_sm' | 'enquire_link' | 'unbind';

/** What a gateway may ask of us. Unanswered, it would hold back what it has, or take us for dead. */
const answered = new Set(['enquire_link', 'deliver_sm', 'data_sm', 'unknown']);
const farewellMs = 2_000;

/** `onEnd` is called once, whatever ends the connection. */
async function openLink(
  gateway: Gateway,
  config: SmppConfig,
  enquireLinkMs: number,
  onEnd: (failure: SmsFailed) => void,
): Promise<Link> {
  let failure: SmsFailed | undefined;
  let enquiries: NodeJS.Timeout | undefined;
  // The library forgets its callbacks when the connection ends; these are told.
  const waiting = new Set<(failure: SmsFailed) => void>();

  function end(reason: string): void {
    if (failure) return;
    failure = new SmsFailed(`The connection to the SMS gateway has ended: ${reason}.`);
    clearTimeout(openingTimer);
    clearInterval(enquiries);
    session.destroy();
    for (const fail of waiting) fail(failure);
    onEnd(failure);
  }

  function ask(command: Command, fields: SmppFields, timeoutMs: number): Promise<SmppPdu> {
    return new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      const settle = () => {
        clearTimeout(timer);
        waiting.delete(fail);
      };
      const fail = (reason: SmsFailed) => {
        settle();
        reject(reason);
      };
      const timer = setTimeout(() => {
        fail(new SmsFailed('The SMS gateway did not answer in time.'));
        if (command === 'submit_sm') enquire();
      }, timeoutMs);
      waiting.add(fail);
      const isSent = session[command](fields, (answer) => {
        settle();
        resolve(answer);
      });
      if (!isSent) end('it is no longer writable');
    });
  }

  let isEnquiring = false;
  /** One late answer does not condemn the connection that others use; a silent gateway does. */
  function enquire(): void {
    if (isEnquiring || failure) return;
    isEnquiring = true;
    ask('enquire_link', {}, config.timeoutMs).then(
      () => {
        isEnquiring = false;
      },
      () => end('the gateway is silent'),
    );
  }

  let connected = () => {};
  const connection = new Promise<void>((resolve, reject) => {
    waiting.add(reject);
    connected = () => {
      waiting.delete(reject);
      resolve();
    };
  });
  // Over TLS it is called after the check of the certificate, and the password is sent only then.
  const session = smpp.connect(
    { ...gateway, servername: isIP(gateway.host) ? '' : gateway.host, rejectUnauthorized: true },
    () => connected(),
  );
  const openingTimer = setTimeout(() => end('the gateway did not answer in time'), config.timeoutMs);
  // Without this listener an error of the network would end the process.
  session.on('error', (error) => end(error.code ?? error.message));
  session.on('close', () => end('it was closed'));
  session.socket.on('end', () => end('the gateway closed it'));
  session.on('unbind', (pdu) => session.send(pdu.response(), () => end('the gateway ended the binding')));
  session.on('pdu', (pdu) => {
    if (answered.has(pdu.command) && !pdu.isResponse()) session.send(pdu.response());
  });

  await connection;
  const binding = { system_id: config.systemId, password: config.password, interface_version: 0x34 };
  const answer = await ask('bind_transceiver', binding, config.timeoutMs);
  try {
    checkStatus(answer, 'refused the binding');
  } catch (error) {
    end('the binding was refused');
    throw error;
  }
  clearTimeout(openingTimer);
  enquiries = setInterval(enquire, enquireLinkMs);

  return {
    ask,
    async close() {
      if (failure) return;
      await ask('unbind', {}, Math.min(config.timeoutMs, farewellMs)).catch(() => undefined);
      end('it is no longer needed');
    },
  };
}
