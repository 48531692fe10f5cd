// This part of undici is loaded alone. Its types exist, but only under the name of the whole package.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici'
}
