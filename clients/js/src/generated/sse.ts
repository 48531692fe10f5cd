// Written by `pnpm generate` from clients/openapi/sse.json.

export interface paths {
    "/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open a stream
         * @description The stream sends the values of its topics. With `Accept: text/html` the reply is an endless page that calls `console.log` with each value. `Last-Event-ID` resumes the stream; `event: gap` replaces values that are no longer in the history.
         */
        get: operations["openStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/put": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Publish a value */
        get: operations["putValueByQuery"];
        put?: never;
        /**
         * Publish a value from `v` or the body
         * @description Without `v`, the request body is the value: UTF-8 text of any media type.
         */
        post: operations["putValue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish several values atomically
         * @description Streams receive them consecutively.
         */
        post: operations["putValues"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/value": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the current value of a topic */
        get: operations["getValue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Numbers of open streams by thread and topic
         * @description The list has the topics that the client may read; `others` counts the streams of all other topics.
         */
        get: operations["getConnections"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/mercure": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Subscribes to topics, as the Mercure protocol defines it
         * @description The token is in `Authorization: Bearer` or in the cookie `__Secure-mercure_access_token`. `Last-Event-ID`, or `last_event_id`, resumes; `Mercure-Last-Event-ID` is the id from which the stream resumes.
         */
        get: operations["subscribe"];
        put?: never;
        /**
         * Publishes an update, as the Mercure protocol defines it
         * @description Fields of the form: `topic`, which may be repeated, and optionally `data`, `private`, `id`, `type` and `retry`.
         */
        post: operations["publish"];
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
    "/closeall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** End all streams; their clients do not reconnect */
        get: operations["closeStreamsByGet"];
        put?: never;
        /** End all streams; their clients do not reconnect */
        post: operations["closeStreams"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the stored values of all topics
         * @description One JSON object per line, in the order of publication, private updates included. The last line has the SHA-256 of all others. See `pnpm sse export`.
         */
        get: operations["exportAll"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import lines of an export, all or none
         * @description Without the first and the last line of the export. The values get new ids and retain their times; open streams receive them. A value is omitted if its topic has one of the same time or a later one. Values of the same time belong into one request. See `pnpm sse import`.
         */
        post: operations["importValues"];
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
        /** Status */
        Status: {
            status: string;
        };
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
        /** EventIds */
        EventIds: {
            /** @description Id of an event. */
            first: string;
            /** @description Id of an event. */
            last: string;
        };
        /** Connections */
        Connections: {
            streams: number;
            threads: {
                thread: number;
                streams: number;
            }[];
            /** @description Topics with the largest numbers of streams, largest first. */
            topics: {
                topic: string;
                streams: number;
            }[];
            /** @description Streams of topics that are not listed; a stream of several topics counts for each. */
            others: number;
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
        /** Imported values */
        ImportedValues: {
            /** @description Number of values that were not known. */
            imported: number;
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
    openStream: {
        parameters: {
            query?: {
                /** @description A label for the stream, without effect. */
                cid?: string;
                /** @description Topic of the stream; at most 500. Without `topic` and `match` it is `default`. */
                topic?: string | string[];
                /** @description Prefix of topics, with a `*` at its end: `collections/*`; `*` selects every topic. Without `*` it is the name of a topic. */
                match?: string | string[];
                /** @description `1`: each value is JSON with its topic: `{"topic":"a","value":"1"}`. */
                named?: "0" | "1";
                /** @description `1` begins with the current value of each topic. */
                last?: "0" | "1";
                /** @description Id of the event to resume after; for clients that cannot send `Last-Event-ID`. */
                lastEventId?: string;
                /** @description The token; for clients that cannot send headers. */
                access_token?: string;
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
                    "text/html": string;
                };
            };
            /** @description The operator closed all streams: do not reconnect. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    putValueByQuery: {
        parameters: {
            query: {
                /** @description The value. */
                v: string;
                topic?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The value that all streams of the topic receive. */
            200: {
                headers: {
                    /** @description Id of the value, the same on every stream. */
                    "event-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    putValue: {
        parameters: {
            query?: {
                /** @description The value. */
                v?: string;
                topic?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "text/plain": string;
            };
        };
        responses: {
            /** @description The value that all streams of the topic receive. */
            200: {
                headers: {
                    /** @description Id of the value, the same on every stream. */
                    "event-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    putValues: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    topic?: string;
                    value: string;
                }[];
            };
        };
        responses: {
            /** @description Default Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventIds"];
                };
            };
        };
    };
    getValue: {
        parameters: {
            query?: {
                topic?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last published value. */
            200: {
                headers: {
                    /** @description Id of the value, the same on every stream. */
                    "event-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    getConnections: {
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
                    "application/json": components["schemas"]["Connections"];
                };
            };
        };
    };
    subscribe: {
        parameters: {
            query?: {
                /** @description A topic; `*` selects every topic. */
                match?: string | string[];
                /** @description The same as `match`. */
                match_exact?: string | string[];
                /** @description A URL pattern; a relative one is resolved against the hub. */
                match_urlpattern?: string | string[];
                /** @description Only with `--mercure-compatibility 8`: a topic, or a URI template. */
                topic?: string | string[];
                /** @description Id of the event to resume after; for clients that cannot send `Last-Event-ID`. `earliest`: all stored events. */
                last_event_id?: string;
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
                    "Mercure-Last-Event-ID"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description All streams were closed; do not reconnect. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    publish: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": string;
            };
        };
        responses: {
            /** @description Id of the update. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
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
    closeStreamsByGet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every stream receives `event: closed` and ends. */
            200: {
                headers: {
                    "event-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    closeStreams: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every stream receives `event: closed` and ends. */
            200: {
                headers: {
                    "event-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    exportAll: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All stored values. */
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
    importValues: {
        parameters: {
            query?: never;
            header?: never;
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
                    "application/json": components["schemas"]["ImportedValues"];
                };
            };
        };
    };
}
