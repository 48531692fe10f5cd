/** Numbers as tables show them. */
export const formatWhole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : '-'
export const formatTenth = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : '-')
export const formatHundredth = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : '-')
export const formatPercent = (share: number): string => (Number.isFinite(share) ? `${Math.round(share * 100)} %` : '-')
/** Formats with the significant digits. */
export const formatShort = (value: number): string => (Math.abs(value) < 100 ? formatTenth(value) : formatWhole(value))
/** Microseconds as milliseconds. */
export const toMilliseconds = (microseconds: number): number => microseconds / 1000
/** A factor with `digits` decimals. A factor too small for them has two significant digits. */
export const formatFactor = (value: number, digits: number): string =>
  value > 0 && value < 10 ** -digits ? value.toPrecision(2) : value.toFixed(digits)
