declare const brand: unique symbol;

/** A string that must not be mixed up with another: `type PaymentId = Brand<'PaymentId'>`. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };
