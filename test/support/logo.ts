import { deflateSync } from 'node:zlib';

/** A shop's logo, drawn by hand: a ring on nothing, as a PNG in a data: address. */
export function ringLogo(
  size: number,
  colour: [red: number, green: number, blue: number] = [194, 65, 12],
): string {
  const row = (y: number) =>
    Buffer.concat([
      Buffer.from([0]),
      ...Array.from({ length: size }, (_, x) => Buffer.from([...colour, alpha(x, y)])),
    ]);
  const alpha = (x: number, y: number) => {
    const away = Math.hypot(x + 0.5 - size / 2, y + 0.5 - size / 2) / (size / 2);
    const edge = Math.min(0.96 - away, away - 0.5) * size;
    return Math.round(Math.max(0, Math.min(1, edge)) * 255);
  };
  const pixels = deflateSync(Buffer.concat(Array.from({ length: size }, (_, y) => row(y))));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Eight bits for each of red, green, blue and alpha.
  header.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const file = [signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return `data:image/png;base64,${Buffer.concat(file).toString('base64')}`;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** Of the annex to the PNG specification; node:zlib has it from Node 22 on. */
function crc32(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
