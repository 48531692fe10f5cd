/** Numbers as tables show them. */
export const whole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '-'
export const tenth = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : '-')
