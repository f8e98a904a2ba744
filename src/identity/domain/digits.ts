/** Keyboards in Arabic and Persian type digits of their own, and some input methods full-width ones. */
export function withWesternDigits(text: string): string {
  // Each of the three blocks begins at a multiple of 16, so the low four bits are the digit.
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) =>
    String(digit.charCodeAt(0) & 15),
  );
}
