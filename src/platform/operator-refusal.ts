/**
 * What an operator asked for cannot be done; the message is a sentence for them, with the remedy. `given`: what they
 * wrote is wrong in itself. `found`: it is right, but things are not as it would need them to be.
 */
export class OperatorRefusal extends Error {
  readonly because: 'given' | 'found';

  constructor(because: 'given' | 'found', message: string) {
    super(message);
    this.name = 'OperatorRefusal';
    this.because = because;
  }
}
