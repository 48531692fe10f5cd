/** Formats a time (ms since 1970) as Google does: without milliseconds. */
export const formatTime = (time: number): string => new Date(time - (time % 1_000)).toISOString().replace('.000', '')

/** Formats a length (s) in ISO 8601, as Google does: `PT1H2M3S`, `PT1M` for 60, `P0D` for 0. */
export function formatDuration(seconds: number): string {
  if (seconds === 0) return 'P0D'
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  return `PT${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}${rest ? `${rest}S` : ''}`
}
