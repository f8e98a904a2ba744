/** A reason not to start that an operator has to settle; the message is a sentence for them, without any secret. */
export class StartRefused extends Error {}
