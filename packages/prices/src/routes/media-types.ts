export const JSON_TYPE = 'application/json'
export const LINES_TYPE = 'application/x-ndjson'
export const CSV_TYPE = 'text/csv'
