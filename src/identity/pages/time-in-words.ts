/** Seconds as a person would say them, never shorter than they are. */
export function inWords(seconds: number): { count: number; unit: 'second' | 'minute' | 'hour' } {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 120) return { count: whole, unit: 'second' };
  if (whole < 7200) return { count: Math.ceil(whole / 60), unit: 'minute' };
  return { count: Math.ceil(whole / 3600), unit: 'hour' };
}
