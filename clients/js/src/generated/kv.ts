// Written by `pnpm generate` from clients/openapi/kv.json.

export interface paths {
    "/v0/entity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a value
         * @description With `If-None-Match`, 304 if the client has the value; with `If-Match`, 412 if the value differs. The header `expires-at` has the expiry time (ms since 1970), if the value expires.
         */
        get: operations["getEntity"];
        /**
         * Write a value
         * @description The value may be any bytes, or empty. With `If-Match` or `If-None-Match` (ETags or `*`) the value changes only if the condition is true, otherwise 412.
         */
        put: operations["putEntity"];
        post?: never;
        /**
         * Delete a key
         * @description With `If-Match` or `If-None-Match` (ETags or `*`) the value changes only if the condition is true, otherwise 412.
         */
        delete: operations["deleteEntity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/watch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the changes of a range as server-sent events
         * @description Events `put`, `delete` and `expire` (the expiry of a value changed), in the order of the changes. Their data is a line in the format of `POST /v0/batch`. The last event of a sequence has the sequence as its `id`. `Last-Event-ID` or `after` resumes the stream.
         */
        get: operations["watchEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/node": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** State of this node of a cluster, and of the NATS servers of its log */
        get: operations["getNode"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/entity/expiry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the expiry of a value */
        get: operations["getExpiry"];
        /**
         * Change the expiry of a value
         * @description Exactly one of `ttl` and `expiresAt` is required. The value and its ETag do not change. With `If-Match` or `If-None-Match` the expiry changes only if the condition is true, otherwise 412.
         */
        put: operations["putExpiry"];
        post?: never;
        /**
         * Remove the expiry of a value
         * @description The value and its ETag do not change. With `If-Match` or `If-None-Match` the expiry changes only if the condition is true, otherwise 412.
         */
        delete: operations["deleteExpiry"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List entries in the order of their keys, from one snapshot
         * @description One NDJSON line per entry, in the format of `POST /v0/batch`. With `Accept: application/octet-stream` the reply has one chunk (of the chunked coding) per entry: the key, a newline and the value. A client without `User-Agent` that accepts any type, such as wrk2, also gets this format. With a `limit` of up to 1,000, the header `next` has the last key of the page, percent-encoded, if more entries follow. Use it as `cursor` for the next page.
         */
        get: operations["listEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/entities/get": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read several values from one snapshot
         * @description A maximum of 10000 keys in 1 MiB. The reply has one NDJSON line per key, in the order of the request: `{"id":"k","found":true,"etag":"\"XWzQ3mAB\"","value":"text"}`, with `valueBase64` for bytes that are not text, and `expiresAt` (ms since 1970) if the value expires. A missing key is `{"id":"k","found":false}`.
         */
        post: operations["getEntities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/writes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Stop all writes, also after a restart, or allow them
         * @description After the reply to `stopped=true`, every acknowledged write is visible, and all writes are refused with 503 `WRITES_STOPPED`. Not for a cluster. See `pnpm kv export --stop-writes`.
         */
        put: operations["setWritesStopped"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v0/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply several changes atomically
         * @description One change per line: `{"op":"put","id":"k","value":"text"}`, `{"op":"put","id":"k","valueBase64":"AAE="}` or `{"op":"delete","id":"k"}`. The changes are applied in their order. A put may have a `ttl` (s) or an `expiresAt` (ms since 1970). `{"op":"expire","id":"k","ttl":60}` changes only the expiry of the value; `"expiresAt":null` removes the expiry. It has no effect on a key without a value.
         */
        post: operations["batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Problem */
        Problem: {
            /** @description URN of the kind of problem. */
            type: string;
            /** @description Title of the kind of problem. */
            title: string;
            /** @description HTTP status. */
            status: number;
            /** @description Cause of the problem of this request. */
            detail?: string;
            /** @description Stable code of the kind of problem. */
            code: string;
        };
        /** Status */
        Status: {
            status: string;
        };
        /** WriteReadiness */
        WriteReadiness: {
            ready: boolean;
            /** @description Reason why the service takes no writes. */
            code?: string;
            detail?: string;
            /**
             * Format: date-time
             * @description Start of the outage.
             */
            since?: string;
        };
        /** Readiness */
        Readiness: {
            status: string;
            /** @description Readiness for writes, on a node of a cluster. */
            writes?: components["schemas"]["WriteReadiness"];
        };
        /** Version */
        Version: {
            name: string;
            version: string;
            node: string;
        };
        /** Node */
        Node: {
            /** @description Sequence of the last entry that this node applied. */
            applied: number;
            /** @description Difference between the last known sequence of the log and `applied`. */
            lag: number;
            /** @description Time since this node last knew that it had applied every entry (s). */
            stalenessSeconds: number;
            /** @description NATS servers of the log. */
            log?: {
                /** @description Name of the stream. */
                stream: string;
                /** @description Servers of the stream, the leader first. Empty before the first report. */
                servers: {
                    name: string;
                    /** @enum {string} */
                    role: "leader" | "replica" | "unknown";
                    /**
                     * @description `offline`: without contact to the leader. `unknown`: there is no recent report.
                     * @enum {string}
                     */
                    state: "current" | "behind" | "offline" | "unknown";
                    /** @description Messages that it does not have yet. Absent if it is unknown. */
                    lag?: number;
                    /**
                     * Format: date-time
                     * @description Last contact with the leader; of the leader, the last report. Absent if it is unknown.
                     */
                    lastContactAt?: string;
                }[];
                /** @description Size of the stream on each server. Absent if it is unknown. */
                bytes?: number;
                /** @description Limit of the storage. Absent if it is unknown. */
                limit?: {
                    /**
                     * @description Configured limit. With `none`, only the disk of a server limits the log.
                     * @enum {string}
                     */
                    scope: "stream" | "account" | "none";
                    /** @description Bytes that count against the limit. */
                    usedBytes?: number;
                    maxBytes?: number;
                };
                /**
                 * Format: date-time
                 * @description Time of the last report that a majority of the servers supports.
                 */
                observedAt?: string;
            };
        };
        /** Expiry */
        Expiry: {
            /** @description Expiry time (ms since 1970). */
            expiresAt: number | null;
            /** @description Remaining time (ms), by the clock that determines the expiry: in a cluster that of the NATS servers */
            remaining: number | null;
        };
        /** Count */
        Count: {
            /** @description Number of entries in the range. */
            count: number;
        };
        /** KeyList */
        KeyList: {
            ids: string[];
        };
        /** Applied */
        Applied: {
            /** @description Number of changes. */
            applied: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getEntity: {
        parameters: {
            query: {
                /** @description 1 to 1,024 bytes of UTF-8. */
                id: string;
                /** @description The read sees all changes up to this sequence. In a cluster, replies have the header `sequence`, which may be used here. */
                after?: string;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    putEntity: {
        parameters: {
            query: {
                /** @description 1 to 1,024 bytes of UTF-8. */
                id: string;
                /** @description Reply only after the change is durable (fsync). */
                durable?: "true" | "false";
                /** @description Time to expiry (s); by default the value does not expire. */
                ttl?: number;
            };
            header?: {
                /** @description A change with the same key in the last hour is not repeated: the reply is that of the first request. */
                "idempotency-key"?: string;
                /** @description `respond-async` (RFC 7240): 202 as soon as the write is queued. It applies on a standalone service with space in the queue, to a request without `durable`, `ttl`, conditions or `Idempotency-Key`. A process that is killed loses its queued writes. */
                prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description The value is written and has the ETag of the reply. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The write is queued, as `Prefer: respond-async` requested. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteEntity: {
        parameters: {
            query: {
                /** @description 1 to 1,024 bytes of UTF-8. */
                id: string;
                /** @description Reply only after the change is durable (fsync). */
                durable?: "true" | "false";
            };
            header?: {
                /** @description A change with the same key in the last hour is not repeated: the reply is that of the first request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key has no value. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    watchEntities: {
        parameters: {
            query?: {
                /** @description Prefix of the keys. It cannot be combined with `start` or `end`. */
                prefix?: string;
                /** @description First key of the range; by default the range begins with the first of all keys. */
                start?: string;
                /** @description First key after the range; by default the range ends with the last of all keys. */
                end?: string;
                /** @description Begin after this sequence; by default with the next change. */
                after?: string;
                /** @description With each heartbeat, send an `id` without an event: the sequence from which the stream would resume. Some clients take it for an empty message. */
                progress?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getNode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Node"];
                };
            };
        };
    };
    getExpiry: {
        parameters: {
            query: {
                /** @description 1 to 1,024 bytes of UTF-8. */
                id: string;
                /** @description The read sees all changes up to this sequence. In a cluster, replies have the header `sequence`, which may be used here. */
                after?: string;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Both are null if the value does not expire. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Expiry"];
                };
            };
        };
    };
    putExpiry: {
        parameters: {
            query: {
                /** @description 1 to 1,024 bytes of UTF-8. */
                id: string;
                /** @description Time to expiry (s). */
                ttl?: number;
                /** @description Expiry time (ms since 1970). */
                expiresAt?: number;
                /** @description Reply only after the change is durable (fsync). */
                durable?: "true" | "false";
            };
            header?: {
                /** @description A change with the same key in the last hour is not repeated: the reply is that of the first request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The expiry is changed or removed; the value retains its ETag. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    deleteExpiry: {
        parameters: {
            query: {
                /** @description 1 to 1,024 bytes of UTF-8. */
                id: string;
                /** @description Reply only after the change is durable (fsync). */
                durable?: "true" | "false";
            };
            header?: {
                /** @description A change with the same key in the last hour is not repeated: the reply is that of the first request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The expiry is changed or removed; the value retains its ETag. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listEntities: {
        parameters: {
            query?: {
                /** @description Prefix of the keys. It cannot be combined with `start` or `end`. */
                prefix?: string;
                /** @description First key of the range; by default the range begins with the first of all keys. */
                start?: string;
                /** @description First key after the range; by default the range ends with the last of all keys. */
                end?: string;
                /** @description Maximum number of entries. */
                limit?: number;
                /** @description Continue after this key: the header `next` of the previous page. */
                cursor?: string;
                /** @description Descending order of keys. */
                reverse?: "true" | "false";
                /** @description Keys without values: `{"id":"k"}`. */
                keys?: "true" | "false";
                /** @description Number of entries instead of the entries. */
                count?: "true" | "false";
                /** @description The read sees all changes up to this sequence. In a cluster, replies have the header `sequence`, which may be used here. */
                after?: string;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries; with `count`, their number. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "application/octet-stream": string;
                    "application/json": components["schemas"]["Count"];
                };
            };
        };
    };
    getEntities: {
        parameters: {
            query?: {
                /** @description The read sees all changes up to this sequence. In a cluster, replies have the header `sequence`, which may be used here. */
                after?: string;
                /** @description The read sees every change that any node acknowledged before it. */
                linearizable?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["KeyList"];
            };
        };
        responses: {
            /** @description One line per key. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    setWritesStopped: {
        parameters: {
            query: {
                /** @description True to refuse writes. */
                stopped: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    batch: {
        parameters: {
            query?: {
                /** @description Reply only after the change is durable (fsync). */
                durable?: "true" | "false";
            };
            header?: {
                /** @description A change with the same key in the last hour is not repeated: the reply is that of the first request. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Applied"];
                };
            };
        };
    };
}
