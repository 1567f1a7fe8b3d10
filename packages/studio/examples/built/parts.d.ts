export declare const program: Readonly<Record<string, unknown>>;
