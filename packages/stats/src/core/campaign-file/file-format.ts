/** Maximum size of a file of campaigns (bytes). */
export const MAX_CAMPAIGN_FILE_BYTES = 4_194_304

export const XLSX_MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** True if a file is a ZIP archive, as XLSX files are. */
export const isXlsx = (bytes: Uint8Array): boolean => bytes[0] === 0x50 && bytes[1] === 0x4b
