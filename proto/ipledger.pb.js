/*eslint-disable block-scoped-var, id-length, no-control-regex, no-magic-numbers, no-mixed-operators, no-prototype-builtins, no-redeclare, no-shadow, no-var, sort-vars, default-case, jsdoc/require-param*/
import $protobuf from "protobufjs/minimal.js";

const $Reader = $protobuf.Reader, $Writer = $protobuf.Writer, $util = $protobuf.util;
const $Object = $util.global.Object, $undefined = $util.global.undefined, $Error = $util.global.Error, $RangeError = $util.global.RangeError, $TypeError = $util.global.TypeError, $Number = $util.global.Number, $parseInt = $util.global.parseInt, $String = $util.global.String, $BigInt = $util.global.BigInt, $Array = $util.global.Array, $Boolean = $util.global.Boolean;

const $root = $protobuf.roots["default"] || ($protobuf.roots["default"] = {});

export const ipledger = $root.ipledger = (() => {

    const ipledger = {};

    ipledger.v1 = (function() {

        const v1 = {};

        v1.Position = (function() {

            const Position = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Position.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Position.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Position.prototype.hash = "";

            Position.create = function(properties) {
                return new Position(properties);
            };

            Position.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(8).uint64(message.epoch);
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(16).uint64(message.seq);
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash") && message.hash !== "")
                    writer.uint32(26).string(message.hash);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Position.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Position();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.epoch = value;
                            else
                                delete message.epoch;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.hash = value;
                            else
                                delete message.hash;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Position.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Position)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Position: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Position();
                if (object.epoch != null)
                    if (typeof object.epoch === "object" ? object.epoch.low || object.epoch.high : $Number(object.epoch) !== 0)
                        if ($util.Long)
                            message.epoch = $util.Long.fromValue(object.epoch, true);
                        else if (typeof object.epoch === "string")
                            message.epoch = $parseInt(object.epoch, 10);
                        else if (typeof object.epoch === "number")
                            message.epoch = object.epoch;
                        else if (typeof object.epoch === "object")
                            message.epoch = new $util.LongBits(object.epoch.low >>> 0, object.epoch.high >>> 0).toNumber(true);
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.hash != null)
                    if (typeof object.hash !== "string" || object.hash.length)
                        message.hash = $String(object.hash);
                return message;
            };

            Position.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.epoch = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.epoch = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.hash = "";
                }
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.epoch = typeof message.epoch === "number" ? $BigInt(message.epoch) : $util.Long.fromBits(message.epoch.low >>> 0, message.epoch.high >>> 0, true).toBigInt();
                    else if (typeof message.epoch === "number")
                        object.epoch = options.longs === $String ? $String(message.epoch) : message.epoch;
                    else
                        object.epoch = options.longs === $String ? $util.Long.prototype.toString.call(message.epoch) : options.longs === $Number ? new $util.LongBits(message.epoch.low >>> 0, message.epoch.high >>> 0).toNumber(true) : message.epoch;
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash"))
                    object.hash = message.hash;
                return object;
            };

            Position.prototype.toJSON = function() {
                return Position.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Position;
        })();

        v1.Consistency = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "CONSISTENCY_LINEARIZABLE"] = 0;
            values[valuesById[1] = "CONSISTENCY_LOCAL"] = 1;
            return values;
        })();

        v1.Pod = (function() {

            const Pod = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Pod.prototype.namespace = "";
            Pod.prototype.name = "";
            Pod.prototype.uid = "";
            Pod.prototype.node = "";
            Pod.prototype.owner = null;

            Pod.create = function(properties) {
                return new Pod(properties);
            };

            Pod.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(10).string(message.namespace);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(18).string(message.name);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(26).string(message.uid);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(34).string(message.node);
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    $root.ipledger.v1.Owner.encode(message.owner, writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Pod.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Pod();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.owner = $root.ipledger.v1.Owner.decode(reader, reader.size(), $undefined, _depth + 1, message.owner);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Pod.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Pod)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Pod: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Pod();
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.owner != null) {
                    if (!$util.isObject(object.owner))
                        throw $TypeError(".ipledger.v1.Pod.owner: object expected");
                    message.owner = $root.ipledger.v1.Owner.fromObject(object.owner, _depth + 1);
                }
                return message;
            };

            Pod.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.namespace = "";
                    object.name = "";
                    object.uid = "";
                    object.node = "";
                    object.owner = null;
                }
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    object.owner = $root.ipledger.v1.Owner.toObject(message.owner, options, _depth + 1);
                return object;
            };

            Pod.prototype.toJSON = function() {
                return Pod.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Pod;
        })();

        v1.Owner = (function() {

            const Owner = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Owner.prototype.kind = "";
            Owner.prototype.name = "";
            Owner.prototype.uid = "";

            Owner.create = function(properties) {
                return new Owner(properties);
            };

            Owner.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.kind != null && $Object.hasOwnProperty.call(message, "kind") && message.kind !== "")
                    writer.uint32(10).string(message.kind);
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(18).string(message.name);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(26).string(message.uid);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Owner.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Owner();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.kind = value;
                            else
                                delete message.kind;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Owner.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Owner)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Owner: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Owner();
                if (object.kind != null)
                    if (typeof object.kind !== "string" || object.kind.length)
                        message.kind = $String(object.kind);
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                return message;
            };

            Owner.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.kind = "";
                    object.name = "";
                    object.uid = "";
                }
                if (message.kind != null && $Object.hasOwnProperty.call(message, "kind"))
                    object.kind = message.kind;
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                return object;
            };

            Owner.prototype.toJSON = function() {
                return Owner.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Owner;
        })();

        v1.Attachment = (function() {

            const Attachment = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Attachment.prototype.namespace = "";
            Attachment.prototype.pod = "";
            Attachment.prototype.provider = "";
            Attachment.prototype.ordinal = 0;

            Attachment.create = function(properties) {
                return new Attachment(properties);
            };

            Attachment.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(10).string(message.namespace);
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod !== "")
                    writer.uint32(18).string(message.pod);
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider") && message.provider !== "")
                    writer.uint32(26).string(message.provider);
                if (message.ordinal != null && $Object.hasOwnProperty.call(message, "ordinal") && message.ordinal !== 0)
                    writer.uint32(32).uint32(message.ordinal);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Attachment.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Attachment();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pod = value;
                            else
                                delete message.pod;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.provider = value;
                            else
                                delete message.provider;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.ordinal = value;
                            else
                                delete message.ordinal;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Attachment.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Attachment)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Attachment: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Attachment();
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.pod != null)
                    if (typeof object.pod !== "string" || object.pod.length)
                        message.pod = $String(object.pod);
                if (object.provider != null)
                    if (typeof object.provider !== "string" || object.provider.length)
                        message.provider = $String(object.provider);
                if (object.ordinal != null)
                    if ($Number(object.ordinal) !== 0)
                        message.ordinal = object.ordinal >>> 0;
                return message;
            };

            Attachment.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.namespace = "";
                    object.pod = "";
                    object.provider = "";
                    object.ordinal = 0;
                }
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = message.pod;
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider"))
                    object.provider = message.provider;
                if (message.ordinal != null && $Object.hasOwnProperty.call(message, "ordinal"))
                    object.ordinal = message.ordinal;
                return object;
            };

            Attachment.prototype.toJSON = function() {
                return Attachment.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Attachment;
        })();

        v1.AddressSet = (function() {

            const AddressSet = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressSet.prototype.addresses = $util.emptyArray;

            AddressSet.create = function(properties) {
                return new AddressSet(properties);
            };

            AddressSet.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(10).string(message.addresses[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressSet.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressSet();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressSet.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressSet)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressSet: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressSet();
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressSet.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                return message;
            };

            AddressSet.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                return object;
            };

            AddressSet.prototype.toJSON = function() {
                return AddressSet.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressSet;
        })();

        v1.Route = (function() {

            const Route = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Route.prototype.dst = "";
            Route.prototype.gw = "";

            Route.create = function(properties) {
                return new Route(properties);
            };

            Route.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.dst != null && $Object.hasOwnProperty.call(message, "dst") && message.dst !== "")
                    writer.uint32(10).string(message.dst);
                if (message.gw != null && $Object.hasOwnProperty.call(message, "gw") && message.gw !== "")
                    writer.uint32(18).string(message.gw);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Route.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Route();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.dst = value;
                            else
                                delete message.dst;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.gw = value;
                            else
                                delete message.gw;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Route.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Route)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Route: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Route();
                if (object.dst != null)
                    if (typeof object.dst !== "string" || object.dst.length)
                        message.dst = $String(object.dst);
                if (object.gw != null)
                    if (typeof object.gw !== "string" || object.gw.length)
                        message.gw = $String(object.gw);
                return message;
            };

            Route.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.dst = "";
                    object.gw = "";
                }
                if (message.dst != null && $Object.hasOwnProperty.call(message, "dst"))
                    object.dst = message.dst;
                if (message.gw != null && $Object.hasOwnProperty.call(message, "gw"))
                    object.gw = message.gw;
                return object;
            };

            Route.prototype.toJSON = function() {
                return Route.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Route;
        })();

        v1.AttachmentRequest = (function() {

            const AttachmentRequest = function (properties) {
                this.subnets = [];
                this.candidates = [];
                this.routes = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AttachmentRequest.prototype.provider = "";
            AttachmentRequest.prototype.ordinal = 0;
            AttachmentRequest.prototype["interface"] = "";
            AttachmentRequest.prototype.subnets = $util.emptyArray;
            AttachmentRequest.prototype.candidates = $util.emptyArray;
            AttachmentRequest.prototype.pool = "";
            AttachmentRequest.prototype.mac = "";
            AttachmentRequest.prototype.routes = $util.emptyArray;
            AttachmentRequest.prototype.defaultRoute = null;
            AttachmentRequest.prototype.ipFamily = "";
            AttachmentRequest.prototype.reservation = "";

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(AttachmentRequest.prototype, "_defaultRoute", {
                get: $util.oneOfGetter($oneOfFields = ["defaultRoute"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            AttachmentRequest.create = function(properties) {
                return new AttachmentRequest(properties);
            };

            AttachmentRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider") && message.provider !== "")
                    writer.uint32(10).string(message.provider);
                if (message.ordinal != null && $Object.hasOwnProperty.call(message, "ordinal") && message.ordinal !== 0)
                    writer.uint32(16).uint32(message.ordinal);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(26).string(message["interface"]);
                if (message.subnets != null && message.subnets.length)
                    for (let i = 0; i < message.subnets.length; ++i)
                        writer.uint32(34).string(message.subnets[i]);
                if (message.candidates != null && message.candidates.length)
                    for (let i = 0; i < message.candidates.length; ++i)
                        $root.ipledger.v1.AddressSet.encode(message.candidates[i], writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool") && message.pool !== "")
                    writer.uint32(50).string(message.pool);
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(58).string(message.mac);
                if (message.routes != null && message.routes.length)
                    for (let i = 0; i < message.routes.length; ++i)
                        $root.ipledger.v1.Route.encode(message.routes[i], writer.uint32(66).fork(), _depth + 1).ldelim();
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    writer.uint32(72).bool(message.defaultRoute);
                if (message.ipFamily != null && $Object.hasOwnProperty.call(message, "ipFamily") && message.ipFamily !== "")
                    writer.uint32(82).string(message.ipFamily);
                if (message.reservation != null && $Object.hasOwnProperty.call(message, "reservation") && message.reservation !== "")
                    writer.uint32(90).string(message.reservation);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AttachmentRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AttachmentRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.provider = value;
                            else
                                delete message.provider;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.ordinal = value;
                            else
                                delete message.ordinal;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.subnets && message.subnets.length))
                                message.subnets = [];
                            message.subnets.push(reader.stringVerify());
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.candidates && message.candidates.length))
                                message.candidates = [];
                            message.candidates.push($root.ipledger.v1.AddressSet.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pool = value;
                            else
                                delete message.pool;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if (!(message.routes && message.routes.length))
                                message.routes = [];
                            message.routes.push($root.ipledger.v1.Route.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 9: {
                            if (wireType !== 0)
                                break;
                            message.defaultRoute = reader.bool();
                            message._defaultRoute = "defaultRoute";
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.ipFamily = value;
                            else
                                delete message.ipFamily;
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservation = value;
                            else
                                delete message.reservation;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AttachmentRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AttachmentRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AttachmentRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AttachmentRequest();
                if (object.provider != null)
                    if (typeof object.provider !== "string" || object.provider.length)
                        message.provider = $String(object.provider);
                if (object.ordinal != null)
                    if ($Number(object.ordinal) !== 0)
                        message.ordinal = object.ordinal >>> 0;
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.subnets) {
                    if (!$Array.isArray(object.subnets))
                        throw $TypeError(".ipledger.v1.AttachmentRequest.subnets: array expected");
                    message.subnets = $Array(object.subnets.length);
                    for (let i = 0; i < object.subnets.length; ++i)
                        message.subnets[i] = $String(object.subnets[i]);
                }
                if (object.candidates) {
                    if (!$Array.isArray(object.candidates))
                        throw $TypeError(".ipledger.v1.AttachmentRequest.candidates: array expected");
                    message.candidates = $Array(object.candidates.length);
                    for (let i = 0; i < object.candidates.length; ++i) {
                        if (!$util.isObject(object.candidates[i]))
                            throw $TypeError(".ipledger.v1.AttachmentRequest.candidates: object expected");
                        message.candidates[i] = $root.ipledger.v1.AddressSet.fromObject(object.candidates[i], _depth + 1);
                    }
                }
                if (object.pool != null)
                    if (typeof object.pool !== "string" || object.pool.length)
                        message.pool = $String(object.pool);
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                if (object.routes) {
                    if (!$Array.isArray(object.routes))
                        throw $TypeError(".ipledger.v1.AttachmentRequest.routes: array expected");
                    message.routes = $Array(object.routes.length);
                    for (let i = 0; i < object.routes.length; ++i) {
                        if (!$util.isObject(object.routes[i]))
                            throw $TypeError(".ipledger.v1.AttachmentRequest.routes: object expected");
                        message.routes[i] = $root.ipledger.v1.Route.fromObject(object.routes[i], _depth + 1);
                    }
                }
                if (object.defaultRoute != null)
                    message.defaultRoute = $Boolean(object.defaultRoute);
                if (object.ipFamily != null)
                    if (typeof object.ipFamily !== "string" || object.ipFamily.length)
                        message.ipFamily = $String(object.ipFamily);
                if (object.reservation != null)
                    if (typeof object.reservation !== "string" || object.reservation.length)
                        message.reservation = $String(object.reservation);
                return message;
            };

            AttachmentRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults) {
                    object.subnets = [];
                    object.candidates = [];
                    object.routes = [];
                }
                if (options.defaults) {
                    object.provider = "";
                    object.ordinal = 0;
                    object["interface"] = "";
                    object.pool = "";
                    object.mac = "";
                    object.ipFamily = "";
                    object.reservation = "";
                }
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider"))
                    object.provider = message.provider;
                if (message.ordinal != null && $Object.hasOwnProperty.call(message, "ordinal"))
                    object.ordinal = message.ordinal;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.subnets && message.subnets.length) {
                    object.subnets = $Array(message.subnets.length);
                    for (let j = 0; j < message.subnets.length; ++j)
                        object.subnets[j] = message.subnets[j];
                }
                if (message.candidates && message.candidates.length) {
                    object.candidates = $Array(message.candidates.length);
                    for (let j = 0; j < message.candidates.length; ++j)
                        object.candidates[j] = $root.ipledger.v1.AddressSet.toObject(message.candidates[j], options, _depth + 1);
                }
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    object.pool = message.pool;
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                if (message.routes && message.routes.length) {
                    object.routes = $Array(message.routes.length);
                    for (let j = 0; j < message.routes.length; ++j)
                        object.routes[j] = $root.ipledger.v1.Route.toObject(message.routes[j], options, _depth + 1);
                }
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    object.defaultRoute = message.defaultRoute;
                if (message.ipFamily != null && $Object.hasOwnProperty.call(message, "ipFamily"))
                    object.ipFamily = message.ipFamily;
                if (message.reservation != null && $Object.hasOwnProperty.call(message, "reservation"))
                    object.reservation = message.reservation;
                return object;
            };

            AttachmentRequest.prototype.toJSON = function() {
                return AttachmentRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AttachmentRequest;
        })();

        v1.AllocationCause = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "ALLOCATION_CAUSE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "ALLOCATION_CAUSE_DYNAMIC"] = 1;
            values[valuesById[2] = "ALLOCATION_CAUSE_STATIC"] = 2;
            values[valuesById[3] = "ALLOCATION_CAUSE_POOL"] = 3;
            values[valuesById[4] = "ALLOCATION_CAUSE_RESERVATION"] = 4;
            values[valuesById[5] = "ALLOCATION_CAUSE_IMPORT"] = 5;
            return values;
        })();

        v1.ReleaseCause = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "RELEASE_CAUSE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "RELEASE_CAUSE_POD_DELETED"] = 1;
            values[valuesById[2] = "RELEASE_CAUSE_POD_COMPLETED"] = 2;
            values[valuesById[3] = "RELEASE_CAUSE_SCALED_DOWN"] = 3;
            values[valuesById[4] = "RELEASE_CAUSE_OWNER_DELETED"] = 4;
            values[valuesById[5] = "RELEASE_CAUSE_OPERATOR"] = 5;
            values[valuesById[6] = "RELEASE_CAUSE_GARBAGE_COLLECTED"] = 6;
            return values;
        })();

        v1.UnbindCause = (function() {
            const valuesById = $Object.create(null), values = $Object.create(valuesById);
            values[valuesById[0] = "UNBIND_CAUSE_UNSPECIFIED"] = 0;
            values[valuesById[1] = "UNBIND_CAUSE_CONTAINER_DELETED"] = 1;
            values[valuesById[2] = "UNBIND_CAUSE_GARBAGE_COLLECTED"] = 2;
            values[valuesById[3] = "UNBIND_CAUSE_NODE_REBOOTED"] = 3;
            values[valuesById[4] = "UNBIND_CAUSE_NODE_DELETED"] = 4;
            return values;
        })();

        v1.AssignedAddress = (function() {

            const AssignedAddress = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AssignedAddress.prototype.address = "";
            AssignedAddress.prototype.cidr = "";
            AssignedAddress.prototype.gateway = "";

            AssignedAddress.create = function(properties) {
                return new AssignedAddress(properties);
            };

            AssignedAddress.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(10).string(message.address);
                if (message.cidr != null && $Object.hasOwnProperty.call(message, "cidr") && message.cidr !== "")
                    writer.uint32(18).string(message.cidr);
                if (message.gateway != null && $Object.hasOwnProperty.call(message, "gateway") && message.gateway !== "")
                    writer.uint32(26).string(message.gateway);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AssignedAddress.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AssignedAddress();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.cidr = value;
                            else
                                delete message.cidr;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.gateway = value;
                            else
                                delete message.gateway;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AssignedAddress.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AssignedAddress)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AssignedAddress: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AssignedAddress();
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.cidr != null)
                    if (typeof object.cidr !== "string" || object.cidr.length)
                        message.cidr = $String(object.cidr);
                if (object.gateway != null)
                    if (typeof object.gateway !== "string" || object.gateway.length)
                        message.gateway = $String(object.gateway);
                return message;
            };

            AssignedAddress.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.address = "";
                    object.cidr = "";
                    object.gateway = "";
                }
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.cidr != null && $Object.hasOwnProperty.call(message, "cidr"))
                    object.cidr = message.cidr;
                if (message.gateway != null && $Object.hasOwnProperty.call(message, "gateway"))
                    object.gateway = message.gateway;
                return object;
            };

            AssignedAddress.prototype.toJSON = function() {
                return AssignedAddress.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AssignedAddress;
        })();

        v1.Binding = (function() {

            const Binding = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Binding.prototype.containerId = "";
            Binding.prototype["interface"] = "";
            Binding.prototype.node = "";
            Binding.prototype.bootId = "";
            Binding.prototype.at = "";

            Binding.create = function(properties) {
                return new Binding(properties);
            };

            Binding.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId") && message.containerId !== "")
                    writer.uint32(10).string(message.containerId);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(18).string(message["interface"]);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(26).string(message.node);
                if (message.bootId != null && $Object.hasOwnProperty.call(message, "bootId") && message.bootId !== "")
                    writer.uint32(34).string(message.bootId);
                if (message.at != null && $Object.hasOwnProperty.call(message, "at") && message.at !== "")
                    writer.uint32(42).string(message.at);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Binding.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Binding();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.containerId = value;
                            else
                                delete message.containerId;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.bootId = value;
                            else
                                delete message.bootId;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.at = value;
                            else
                                delete message.at;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Binding.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Binding)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Binding: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Binding();
                if (object.containerId != null)
                    if (typeof object.containerId !== "string" || object.containerId.length)
                        message.containerId = $String(object.containerId);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.bootId != null)
                    if (typeof object.bootId !== "string" || object.bootId.length)
                        message.bootId = $String(object.bootId);
                if (object.at != null)
                    if (typeof object.at !== "string" || object.at.length)
                        message.at = $String(object.at);
                return message;
            };

            Binding.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.containerId = "";
                    object["interface"] = "";
                    object.node = "";
                    object.bootId = "";
                    object.at = "";
                }
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId"))
                    object.containerId = message.containerId;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.bootId != null && $Object.hasOwnProperty.call(message, "bootId"))
                    object.bootId = message.bootId;
                if (message.at != null && $Object.hasOwnProperty.call(message, "at"))
                    object.at = message.at;
                return object;
            };

            Binding.prototype.toJSON = function() {
                return Binding.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Binding;
        })();

        v1.Allocation = (function() {

            const Allocation = function (properties) {
                this.addresses = [];
                this.routes = [];
                this.bindings = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Allocation.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Allocation.prototype.attachment = null;
            Allocation.prototype.podUid = "";
            Allocation.prototype.owner = null;
            Allocation.prototype.node = "";
            Allocation.prototype.subnet = "";
            Allocation.prototype.addresses = $util.emptyArray;
            Allocation.prototype.mac = "";
            Allocation.prototype["interface"] = "";
            Allocation.prototype.cause = 0;
            Allocation.prototype.routes = $util.emptyArray;
            Allocation.prototype.defaultRoute = null;
            Allocation.prototype.at = "";
            Allocation.prototype.bindings = $util.emptyArray;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(Allocation.prototype, "_defaultRoute", {
                get: $util.oneOfGetter($oneOfFields = ["defaultRoute"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            Allocation.create = function(properties) {
                return new Allocation(properties);
            };

            Allocation.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(8).uint64(message.seq);
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid") && message.podUid !== "")
                    writer.uint32(26).string(message.podUid);
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    $root.ipledger.v1.Owner.encode(message.owner, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(42).string(message.node);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(50).string(message.subnet);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        $root.ipledger.v1.AssignedAddress.encode(message.addresses[i], writer.uint32(58).fork(), _depth + 1).ldelim();
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(66).string(message.mac);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(74).string(message["interface"]);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(80).int32(message.cause);
                if (message.routes != null && message.routes.length)
                    for (let i = 0; i < message.routes.length; ++i)
                        $root.ipledger.v1.Route.encode(message.routes[i], writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    writer.uint32(96).bool(message.defaultRoute);
                if (message.at != null && $Object.hasOwnProperty.call(message, "at") && message.at !== "")
                    writer.uint32(106).string(message.at);
                if (message.bindings != null && message.bindings.length)
                    for (let i = 0; i < message.bindings.length; ++i)
                        $root.ipledger.v1.Binding.encode(message.bindings[i], writer.uint32(114).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Allocation.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Allocation();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.podUid = value;
                            else
                                delete message.podUid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.owner = $root.ipledger.v1.Owner.decode(reader, reader.size(), $undefined, _depth + 1, message.owner);
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push($root.ipledger.v1.AssignedAddress.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 10: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            if (!(message.routes && message.routes.length))
                                message.routes = [];
                            message.routes.push($root.ipledger.v1.Route.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 12: {
                            if (wireType !== 0)
                                break;
                            message.defaultRoute = reader.bool();
                            message._defaultRoute = "defaultRoute";
                            continue;
                        }
                    case 13: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.at = value;
                            else
                                delete message.at;
                            continue;
                        }
                    case 14: {
                            if (wireType !== 2)
                                break;
                            if (!(message.bindings && message.bindings.length))
                                message.bindings = [];
                            message.bindings.push($root.ipledger.v1.Binding.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Allocation.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Allocation)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Allocation: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Allocation();
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.Allocation.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.podUid != null)
                    if (typeof object.podUid !== "string" || object.podUid.length)
                        message.podUid = $String(object.podUid);
                if (object.owner != null) {
                    if (!$util.isObject(object.owner))
                        throw $TypeError(".ipledger.v1.Allocation.owner: object expected");
                    message.owner = $root.ipledger.v1.Owner.fromObject(object.owner, _depth + 1);
                }
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.Allocation.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i) {
                        if (!$util.isObject(object.addresses[i]))
                            throw $TypeError(".ipledger.v1.Allocation.addresses: object expected");
                        message.addresses[i] = $root.ipledger.v1.AssignedAddress.fromObject(object.addresses[i], _depth + 1);
                    }
                }
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.AllocationCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "ALLOCATION_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "ALLOCATION_CAUSE_DYNAMIC":
                    case 1:
                        message.cause = 1;
                        break;
                    case "ALLOCATION_CAUSE_STATIC":
                    case 2:
                        message.cause = 2;
                        break;
                    case "ALLOCATION_CAUSE_POOL":
                    case 3:
                        message.cause = 3;
                        break;
                    case "ALLOCATION_CAUSE_RESERVATION":
                    case 4:
                        message.cause = 4;
                        break;
                    case "ALLOCATION_CAUSE_IMPORT":
                    case 5:
                        message.cause = 5;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                if (object.routes) {
                    if (!$Array.isArray(object.routes))
                        throw $TypeError(".ipledger.v1.Allocation.routes: array expected");
                    message.routes = $Array(object.routes.length);
                    for (let i = 0; i < object.routes.length; ++i) {
                        if (!$util.isObject(object.routes[i]))
                            throw $TypeError(".ipledger.v1.Allocation.routes: object expected");
                        message.routes[i] = $root.ipledger.v1.Route.fromObject(object.routes[i], _depth + 1);
                    }
                }
                if (object.defaultRoute != null)
                    message.defaultRoute = $Boolean(object.defaultRoute);
                if (object.at != null)
                    if (typeof object.at !== "string" || object.at.length)
                        message.at = $String(object.at);
                if (object.bindings) {
                    if (!$Array.isArray(object.bindings))
                        throw $TypeError(".ipledger.v1.Allocation.bindings: array expected");
                    message.bindings = $Array(object.bindings.length);
                    for (let i = 0; i < object.bindings.length; ++i) {
                        if (!$util.isObject(object.bindings[i]))
                            throw $TypeError(".ipledger.v1.Allocation.bindings: object expected");
                        message.bindings[i] = $root.ipledger.v1.Binding.fromObject(object.bindings[i], _depth + 1);
                    }
                }
                return message;
            };

            Allocation.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults) {
                    object.addresses = [];
                    object.routes = [];
                    object.bindings = [];
                }
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.attachment = null;
                    object.podUid = "";
                    object.owner = null;
                    object.node = "";
                    object.subnet = "";
                    object.mac = "";
                    object["interface"] = "";
                    object.cause = options.enums === $String ? "ALLOCATION_CAUSE_UNSPECIFIED" : 0;
                    object.at = "";
                }
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid"))
                    object.podUid = message.podUid;
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    object.owner = $root.ipledger.v1.Owner.toObject(message.owner, options, _depth + 1);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = $root.ipledger.v1.AssignedAddress.toObject(message.addresses[j], options, _depth + 1);
                }
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.AllocationCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.AllocationCause[message.cause] : message.cause;
                if (message.routes && message.routes.length) {
                    object.routes = $Array(message.routes.length);
                    for (let j = 0; j < message.routes.length; ++j)
                        object.routes[j] = $root.ipledger.v1.Route.toObject(message.routes[j], options, _depth + 1);
                }
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    object.defaultRoute = message.defaultRoute;
                if (message.at != null && $Object.hasOwnProperty.call(message, "at"))
                    object.at = message.at;
                if (message.bindings && message.bindings.length) {
                    object.bindings = $Array(message.bindings.length);
                    for (let j = 0; j < message.bindings.length; ++j)
                        object.bindings[j] = $root.ipledger.v1.Binding.toObject(message.bindings[j], options, _depth + 1);
                }
                return object;
            };

            Allocation.prototype.toJSON = function() {
                return Allocation.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Allocation;
        })();

        v1.AddressRecord = (function() {

            const AddressRecord = function (properties) {
                this.bindings = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressRecord.prototype.subnet = "";
            AddressRecord.prototype.address = "";
            AddressRecord.prototype.state = "";
            AddressRecord.prototype.allocation = null;
            AddressRecord.prototype.bindings = $util.emptyArray;
            AddressRecord.prototype.releasedAt = "";
            AddressRecord.prototype.releasedFromUid = "";
            AddressRecord.prototype.lastSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            AddressRecord.prototype.availableAt = "";
            AddressRecord.prototype.reservation = null;
            AddressRecord.prototype.quarantine = null;
            AddressRecord.prototype.pool = "";

            AddressRecord.create = function(properties) {
                return new AddressRecord(properties);
            };

            AddressRecord.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(18).string(message.address);
                if (message.state != null && $Object.hasOwnProperty.call(message, "state") && message.state !== "")
                    writer.uint32(26).string(message.state);
                if (message.allocation != null && $Object.hasOwnProperty.call(message, "allocation"))
                    $root.ipledger.v1.Allocation.encode(message.allocation, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.bindings != null && message.bindings.length)
                    for (let i = 0; i < message.bindings.length; ++i)
                        $root.ipledger.v1.Binding.encode(message.bindings[i], writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.releasedAt != null && $Object.hasOwnProperty.call(message, "releasedAt") && message.releasedAt !== "")
                    writer.uint32(50).string(message.releasedAt);
                if (message.releasedFromUid != null && $Object.hasOwnProperty.call(message, "releasedFromUid") && message.releasedFromUid !== "")
                    writer.uint32(58).string(message.releasedFromUid);
                if (message.lastSeq != null && $Object.hasOwnProperty.call(message, "lastSeq") && (typeof message.lastSeq === "object" ? message.lastSeq.low || message.lastSeq.high : message.lastSeq !== 0))
                    writer.uint32(64).uint64(message.lastSeq);
                if (message.availableAt != null && $Object.hasOwnProperty.call(message, "availableAt") && message.availableAt !== "")
                    writer.uint32(74).string(message.availableAt);
                if (message.reservation != null && $Object.hasOwnProperty.call(message, "reservation"))
                    $root.ipledger.v1.Reservation.encode(message.reservation, writer.uint32(82).fork(), _depth + 1).ldelim();
                if (message.quarantine != null && $Object.hasOwnProperty.call(message, "quarantine"))
                    $root.ipledger.v1.Quarantine.encode(message.quarantine, writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool") && message.pool !== "")
                    writer.uint32(98).string(message.pool);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressRecord.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressRecord();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.state = value;
                            else
                                delete message.state;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.allocation = $root.ipledger.v1.Allocation.decode(reader, reader.size(), $undefined, _depth + 1, message.allocation);
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.bindings && message.bindings.length))
                                message.bindings = [];
                            message.bindings.push($root.ipledger.v1.Binding.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.releasedAt = value;
                            else
                                delete message.releasedAt;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.releasedFromUid = value;
                            else
                                delete message.releasedFromUid;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.lastSeq = value;
                            else
                                delete message.lastSeq;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.availableAt = value;
                            else
                                delete message.availableAt;
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            message.reservation = $root.ipledger.v1.Reservation.decode(reader, reader.size(), $undefined, _depth + 1, message.reservation);
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            message.quarantine = $root.ipledger.v1.Quarantine.decode(reader, reader.size(), $undefined, _depth + 1, message.quarantine);
                            continue;
                        }
                    case 12: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pool = value;
                            else
                                delete message.pool;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressRecord.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressRecord)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressRecord: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressRecord();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.state != null)
                    if (typeof object.state !== "string" || object.state.length)
                        message.state = $String(object.state);
                if (object.allocation != null) {
                    if (!$util.isObject(object.allocation))
                        throw $TypeError(".ipledger.v1.AddressRecord.allocation: object expected");
                    message.allocation = $root.ipledger.v1.Allocation.fromObject(object.allocation, _depth + 1);
                }
                if (object.bindings) {
                    if (!$Array.isArray(object.bindings))
                        throw $TypeError(".ipledger.v1.AddressRecord.bindings: array expected");
                    message.bindings = $Array(object.bindings.length);
                    for (let i = 0; i < object.bindings.length; ++i) {
                        if (!$util.isObject(object.bindings[i]))
                            throw $TypeError(".ipledger.v1.AddressRecord.bindings: object expected");
                        message.bindings[i] = $root.ipledger.v1.Binding.fromObject(object.bindings[i], _depth + 1);
                    }
                }
                if (object.releasedAt != null)
                    if (typeof object.releasedAt !== "string" || object.releasedAt.length)
                        message.releasedAt = $String(object.releasedAt);
                if (object.releasedFromUid != null)
                    if (typeof object.releasedFromUid !== "string" || object.releasedFromUid.length)
                        message.releasedFromUid = $String(object.releasedFromUid);
                if (object.lastSeq != null)
                    if (typeof object.lastSeq === "object" ? object.lastSeq.low || object.lastSeq.high : $Number(object.lastSeq) !== 0)
                        if ($util.Long)
                            message.lastSeq = $util.Long.fromValue(object.lastSeq, true);
                        else if (typeof object.lastSeq === "string")
                            message.lastSeq = $parseInt(object.lastSeq, 10);
                        else if (typeof object.lastSeq === "number")
                            message.lastSeq = object.lastSeq;
                        else if (typeof object.lastSeq === "object")
                            message.lastSeq = new $util.LongBits(object.lastSeq.low >>> 0, object.lastSeq.high >>> 0).toNumber(true);
                if (object.availableAt != null)
                    if (typeof object.availableAt !== "string" || object.availableAt.length)
                        message.availableAt = $String(object.availableAt);
                if (object.reservation != null) {
                    if (!$util.isObject(object.reservation))
                        throw $TypeError(".ipledger.v1.AddressRecord.reservation: object expected");
                    message.reservation = $root.ipledger.v1.Reservation.fromObject(object.reservation, _depth + 1);
                }
                if (object.quarantine != null) {
                    if (!$util.isObject(object.quarantine))
                        throw $TypeError(".ipledger.v1.AddressRecord.quarantine: object expected");
                    message.quarantine = $root.ipledger.v1.Quarantine.fromObject(object.quarantine, _depth + 1);
                }
                if (object.pool != null)
                    if (typeof object.pool !== "string" || object.pool.length)
                        message.pool = $String(object.pool);
                return message;
            };

            AddressRecord.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.bindings = [];
                if (options.defaults) {
                    object.subnet = "";
                    object.address = "";
                    object.state = "";
                    object.allocation = null;
                    object.releasedAt = "";
                    object.releasedFromUid = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.lastSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.lastSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.availableAt = "";
                    object.reservation = null;
                    object.quarantine = null;
                    object.pool = "";
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.state != null && $Object.hasOwnProperty.call(message, "state"))
                    object.state = message.state;
                if (message.allocation != null && $Object.hasOwnProperty.call(message, "allocation"))
                    object.allocation = $root.ipledger.v1.Allocation.toObject(message.allocation, options, _depth + 1);
                if (message.bindings && message.bindings.length) {
                    object.bindings = $Array(message.bindings.length);
                    for (let j = 0; j < message.bindings.length; ++j)
                        object.bindings[j] = $root.ipledger.v1.Binding.toObject(message.bindings[j], options, _depth + 1);
                }
                if (message.releasedAt != null && $Object.hasOwnProperty.call(message, "releasedAt"))
                    object.releasedAt = message.releasedAt;
                if (message.releasedFromUid != null && $Object.hasOwnProperty.call(message, "releasedFromUid"))
                    object.releasedFromUid = message.releasedFromUid;
                if (message.lastSeq != null && $Object.hasOwnProperty.call(message, "lastSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.lastSeq = typeof message.lastSeq === "number" ? $BigInt(message.lastSeq) : $util.Long.fromBits(message.lastSeq.low >>> 0, message.lastSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.lastSeq === "number")
                        object.lastSeq = options.longs === $String ? $String(message.lastSeq) : message.lastSeq;
                    else
                        object.lastSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.lastSeq) : options.longs === $Number ? new $util.LongBits(message.lastSeq.low >>> 0, message.lastSeq.high >>> 0).toNumber(true) : message.lastSeq;
                if (message.availableAt != null && $Object.hasOwnProperty.call(message, "availableAt"))
                    object.availableAt = message.availableAt;
                if (message.reservation != null && $Object.hasOwnProperty.call(message, "reservation"))
                    object.reservation = $root.ipledger.v1.Reservation.toObject(message.reservation, options, _depth + 1);
                if (message.quarantine != null && $Object.hasOwnProperty.call(message, "quarantine"))
                    object.quarantine = $root.ipledger.v1.Quarantine.toObject(message.quarantine, options, _depth + 1);
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    object.pool = message.pool;
                return object;
            };

            AddressRecord.prototype.toJSON = function() {
                return AddressRecord.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressRecord;
        })();

        v1.Reservation = (function() {

            const Reservation = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Reservation.prototype.reservedFor = "";
            Reservation.prototype.reason = "";
            Reservation.prototype.mac = "";
            Reservation.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Reservation.prototype.at = "";

            Reservation.create = function(properties) {
                return new Reservation(properties);
            };

            Reservation.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor") && message.reservedFor !== "")
                    writer.uint32(10).string(message.reservedFor);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(18).string(message.reason);
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(26).string(message.mac);
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(32).uint64(message.seq);
                if (message.at != null && $Object.hasOwnProperty.call(message, "at") && message.at !== "")
                    writer.uint32(42).string(message.at);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Reservation.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Reservation();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedFor = value;
                            else
                                delete message.reservedFor;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.at = value;
                            else
                                delete message.at;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Reservation.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Reservation)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Reservation: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Reservation();
                if (object.reservedFor != null)
                    if (typeof object.reservedFor !== "string" || object.reservedFor.length)
                        message.reservedFor = $String(object.reservedFor);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.at != null)
                    if (typeof object.at !== "string" || object.at.length)
                        message.at = $String(object.at);
                return message;
            };

            Reservation.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.reservedFor = "";
                    object.reason = "";
                    object.mac = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.at = "";
                }
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor"))
                    object.reservedFor = message.reservedFor;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.at != null && $Object.hasOwnProperty.call(message, "at"))
                    object.at = message.at;
                return object;
            };

            Reservation.prototype.toJSON = function() {
                return Reservation.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Reservation;
        })();

        v1.Quarantine = (function() {

            const Quarantine = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Quarantine.prototype.seenMac = "";
            Quarantine.prototype.seenAt = "";
            Quarantine.prototype.reason = "";
            Quarantine.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Quarantine.prototype.at = "";

            Quarantine.create = function(properties) {
                return new Quarantine(properties);
            };

            Quarantine.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.seenMac != null && $Object.hasOwnProperty.call(message, "seenMac") && message.seenMac !== "")
                    writer.uint32(10).string(message.seenMac);
                if (message.seenAt != null && $Object.hasOwnProperty.call(message, "seenAt") && message.seenAt !== "")
                    writer.uint32(18).string(message.seenAt);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(26).string(message.reason);
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(32).uint64(message.seq);
                if (message.at != null && $Object.hasOwnProperty.call(message, "at") && message.at !== "")
                    writer.uint32(42).string(message.at);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Quarantine.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Quarantine();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.seenMac = value;
                            else
                                delete message.seenMac;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.seenAt = value;
                            else
                                delete message.seenAt;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.at = value;
                            else
                                delete message.at;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Quarantine.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Quarantine)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Quarantine: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Quarantine();
                if (object.seenMac != null)
                    if (typeof object.seenMac !== "string" || object.seenMac.length)
                        message.seenMac = $String(object.seenMac);
                if (object.seenAt != null)
                    if (typeof object.seenAt !== "string" || object.seenAt.length)
                        message.seenAt = $String(object.seenAt);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.at != null)
                    if (typeof object.at !== "string" || object.at.length)
                        message.at = $String(object.at);
                return message;
            };

            Quarantine.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.seenMac = "";
                    object.seenAt = "";
                    object.reason = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.at = "";
                }
                if (message.seenMac != null && $Object.hasOwnProperty.call(message, "seenMac"))
                    object.seenMac = message.seenMac;
                if (message.seenAt != null && $Object.hasOwnProperty.call(message, "seenAt"))
                    object.seenAt = message.seenAt;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.at != null && $Object.hasOwnProperty.call(message, "at"))
                    object.at = message.at;
                return object;
            };

            Quarantine.prototype.toJSON = function() {
                return Quarantine.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Quarantine;
        })();

        v1.AllocateRequest = (function() {

            const AllocateRequest = function (properties) {
                this.attachments = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AllocateRequest.prototype.pod = null;
            AllocateRequest.prototype.attachments = $util.emptyArray;
            AllocateRequest.prototype.validMs = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            AllocateRequest.prototype["import"] = false;

            AllocateRequest.create = function(properties) {
                return new AllocateRequest(properties);
            };

            AllocateRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    $root.ipledger.v1.Pod.encode(message.pod, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.attachments != null && message.attachments.length)
                    for (let i = 0; i < message.attachments.length; ++i)
                        $root.ipledger.v1.AttachmentRequest.encode(message.attachments[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.validMs != null && $Object.hasOwnProperty.call(message, "validMs") && (typeof message.validMs === "object" ? message.validMs.low || message.validMs.high : message.validMs !== 0))
                    writer.uint32(24).uint64(message.validMs);
                if (message["import"] != null && $Object.hasOwnProperty.call(message, "import") && message["import"] !== false)
                    writer.uint32(32).bool(message["import"]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AllocateRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AllocateRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.pod = $root.ipledger.v1.Pod.decode(reader, reader.size(), $undefined, _depth + 1, message.pod);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.attachments && message.attachments.length))
                                message.attachments = [];
                            message.attachments.push($root.ipledger.v1.AttachmentRequest.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.validMs = value;
                            else
                                delete message.validMs;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.bool())
                                message["import"] = value;
                            else
                                delete message["import"];
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AllocateRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AllocateRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AllocateRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AllocateRequest();
                if (object.pod != null) {
                    if (!$util.isObject(object.pod))
                        throw $TypeError(".ipledger.v1.AllocateRequest.pod: object expected");
                    message.pod = $root.ipledger.v1.Pod.fromObject(object.pod, _depth + 1);
                }
                if (object.attachments) {
                    if (!$Array.isArray(object.attachments))
                        throw $TypeError(".ipledger.v1.AllocateRequest.attachments: array expected");
                    message.attachments = $Array(object.attachments.length);
                    for (let i = 0; i < object.attachments.length; ++i) {
                        if (!$util.isObject(object.attachments[i]))
                            throw $TypeError(".ipledger.v1.AllocateRequest.attachments: object expected");
                        message.attachments[i] = $root.ipledger.v1.AttachmentRequest.fromObject(object.attachments[i], _depth + 1);
                    }
                }
                if (object.validMs != null)
                    if (typeof object.validMs === "object" ? object.validMs.low || object.validMs.high : $Number(object.validMs) !== 0)
                        if ($util.Long)
                            message.validMs = $util.Long.fromValue(object.validMs, true);
                        else if (typeof object.validMs === "string")
                            message.validMs = $parseInt(object.validMs, 10);
                        else if (typeof object.validMs === "number")
                            message.validMs = object.validMs;
                        else if (typeof object.validMs === "object")
                            message.validMs = new $util.LongBits(object.validMs.low >>> 0, object.validMs.high >>> 0).toNumber(true);
                if (object["import"] != null)
                    if (object["import"])
                        message["import"] = $Boolean(object["import"]);
                return message;
            };

            AllocateRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.attachments = [];
                if (options.defaults) {
                    object.pod = null;
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.validMs = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.validMs = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object["import"] = false;
                }
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = $root.ipledger.v1.Pod.toObject(message.pod, options, _depth + 1);
                if (message.attachments && message.attachments.length) {
                    object.attachments = $Array(message.attachments.length);
                    for (let j = 0; j < message.attachments.length; ++j)
                        object.attachments[j] = $root.ipledger.v1.AttachmentRequest.toObject(message.attachments[j], options, _depth + 1);
                }
                if (message.validMs != null && $Object.hasOwnProperty.call(message, "validMs"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.validMs = typeof message.validMs === "number" ? $BigInt(message.validMs) : $util.Long.fromBits(message.validMs.low >>> 0, message.validMs.high >>> 0, true).toBigInt();
                    else if (typeof message.validMs === "number")
                        object.validMs = options.longs === $String ? $String(message.validMs) : message.validMs;
                    else
                        object.validMs = options.longs === $String ? $util.Long.prototype.toString.call(message.validMs) : options.longs === $Number ? new $util.LongBits(message.validMs.low >>> 0, message.validMs.high >>> 0).toNumber(true) : message.validMs;
                if (message["import"] != null && $Object.hasOwnProperty.call(message, "import"))
                    object["import"] = message["import"];
                return object;
            };

            AllocateRequest.prototype.toJSON = function() {
                return AllocateRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AllocateRequest;
        })();

        v1.AllocateReply = (function() {

            const AllocateReply = function (properties) {
                this.allocations = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AllocateReply.prototype.position = null;
            AllocateReply.prototype.allocations = $util.emptyArray;

            AllocateReply.create = function(properties) {
                return new AllocateReply(properties);
            };

            AllocateReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.allocations != null && message.allocations.length)
                    for (let i = 0; i < message.allocations.length; ++i)
                        $root.ipledger.v1.Allocation.encode(message.allocations[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AllocateReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AllocateReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.allocations && message.allocations.length))
                                message.allocations = [];
                            message.allocations.push($root.ipledger.v1.Allocation.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AllocateReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AllocateReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AllocateReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AllocateReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.AllocateReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.allocations) {
                    if (!$Array.isArray(object.allocations))
                        throw $TypeError(".ipledger.v1.AllocateReply.allocations: array expected");
                    message.allocations = $Array(object.allocations.length);
                    for (let i = 0; i < object.allocations.length; ++i) {
                        if (!$util.isObject(object.allocations[i]))
                            throw $TypeError(".ipledger.v1.AllocateReply.allocations: object expected");
                        message.allocations[i] = $root.ipledger.v1.Allocation.fromObject(object.allocations[i], _depth + 1);
                    }
                }
                return message;
            };

            AllocateReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.allocations = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.allocations && message.allocations.length) {
                    object.allocations = $Array(message.allocations.length);
                    for (let j = 0; j < message.allocations.length; ++j)
                        object.allocations[j] = $root.ipledger.v1.Allocation.toObject(message.allocations[j], options, _depth + 1);
                }
                return object;
            };

            AllocateReply.prototype.toJSON = function() {
                return AllocateReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AllocateReply;
        })();

        v1.AllocateStreamRequest = (function() {

            const AllocateStreamRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AllocateStreamRequest.prototype.tag = "";
            AllocateStreamRequest.prototype.request = null;

            AllocateStreamRequest.create = function(properties) {
                return new AllocateStreamRequest(properties);
            };

            AllocateStreamRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.tag != null && $Object.hasOwnProperty.call(message, "tag") && message.tag !== "")
                    writer.uint32(10).string(message.tag);
                if (message.request != null && $Object.hasOwnProperty.call(message, "request"))
                    $root.ipledger.v1.AllocateRequest.encode(message.request, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AllocateStreamRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AllocateStreamRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.tag = value;
                            else
                                delete message.tag;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.request = $root.ipledger.v1.AllocateRequest.decode(reader, reader.size(), $undefined, _depth + 1, message.request);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AllocateStreamRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AllocateStreamRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AllocateStreamRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AllocateStreamRequest();
                if (object.tag != null)
                    if (typeof object.tag !== "string" || object.tag.length)
                        message.tag = $String(object.tag);
                if (object.request != null) {
                    if (!$util.isObject(object.request))
                        throw $TypeError(".ipledger.v1.AllocateStreamRequest.request: object expected");
                    message.request = $root.ipledger.v1.AllocateRequest.fromObject(object.request, _depth + 1);
                }
                return message;
            };

            AllocateStreamRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.tag = "";
                    object.request = null;
                }
                if (message.tag != null && $Object.hasOwnProperty.call(message, "tag"))
                    object.tag = message.tag;
                if (message.request != null && $Object.hasOwnProperty.call(message, "request"))
                    object.request = $root.ipledger.v1.AllocateRequest.toObject(message.request, options, _depth + 1);
                return object;
            };

            AllocateStreamRequest.prototype.toJSON = function() {
                return AllocateStreamRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AllocateStreamRequest;
        })();

        v1.AllocateStreamReply = (function() {

            const AllocateStreamReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AllocateStreamReply.prototype.tag = "";
            AllocateStreamReply.prototype.reply = null;
            AllocateStreamReply.prototype.code = 0;
            AllocateStreamReply.prototype.message = "";

            AllocateStreamReply.create = function(properties) {
                return new AllocateStreamReply(properties);
            };

            AllocateStreamReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.tag != null && $Object.hasOwnProperty.call(message, "tag") && message.tag !== "")
                    writer.uint32(10).string(message.tag);
                if (message.reply != null && $Object.hasOwnProperty.call(message, "reply"))
                    $root.ipledger.v1.AllocateReply.encode(message.reply, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.code != null && $Object.hasOwnProperty.call(message, "code") && message.code !== 0)
                    writer.uint32(24).uint32(message.code);
                if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                    writer.uint32(34).string(message.message);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AllocateStreamReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AllocateStreamReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.tag = value;
                            else
                                delete message.tag;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.reply = $root.ipledger.v1.AllocateReply.decode(reader, reader.size(), $undefined, _depth + 1, message.reply);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.code = value;
                            else
                                delete message.code;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.message = value;
                            else
                                delete message.message;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AllocateStreamReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AllocateStreamReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AllocateStreamReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AllocateStreamReply();
                if (object.tag != null)
                    if (typeof object.tag !== "string" || object.tag.length)
                        message.tag = $String(object.tag);
                if (object.reply != null) {
                    if (!$util.isObject(object.reply))
                        throw $TypeError(".ipledger.v1.AllocateStreamReply.reply: object expected");
                    message.reply = $root.ipledger.v1.AllocateReply.fromObject(object.reply, _depth + 1);
                }
                if (object.code != null)
                    if ($Number(object.code) !== 0)
                        message.code = object.code >>> 0;
                if (object.message != null)
                    if (typeof object.message !== "string" || object.message.length)
                        message.message = $String(object.message);
                return message;
            };

            AllocateStreamReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.tag = "";
                    object.reply = null;
                    object.code = 0;
                    object.message = "";
                }
                if (message.tag != null && $Object.hasOwnProperty.call(message, "tag"))
                    object.tag = message.tag;
                if (message.reply != null && $Object.hasOwnProperty.call(message, "reply"))
                    object.reply = $root.ipledger.v1.AllocateReply.toObject(message.reply, options, _depth + 1);
                if (message.code != null && $Object.hasOwnProperty.call(message, "code"))
                    object.code = message.code;
                if (message.message != null && $Object.hasOwnProperty.call(message, "message"))
                    object.message = message.message;
                return object;
            };

            AllocateStreamReply.prototype.toJSON = function() {
                return AllocateStreamReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AllocateStreamReply;
        })();

        v1.ReleaseRequest = (function() {

            const ReleaseRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReleaseRequest.prototype.namespace = "";
            ReleaseRequest.prototype.pod = "";
            ReleaseRequest.prototype.podUid = "";
            ReleaseRequest.prototype.cause = 0;
            ReleaseRequest.prototype.evidence = "";
            ReleaseRequest.prototype.allocationSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            ReleaseRequest.create = function(properties) {
                return new ReleaseRequest(properties);
            };

            ReleaseRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(10).string(message.namespace);
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod !== "")
                    writer.uint32(18).string(message.pod);
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid") && message.podUid !== "")
                    writer.uint32(26).string(message.podUid);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(32).int32(message.cause);
                if (message.evidence != null && $Object.hasOwnProperty.call(message, "evidence") && message.evidence !== "")
                    writer.uint32(42).string(message.evidence);
                if (message.allocationSeq != null && $Object.hasOwnProperty.call(message, "allocationSeq") && (typeof message.allocationSeq === "object" ? message.allocationSeq.low || message.allocationSeq.high : message.allocationSeq !== 0))
                    writer.uint32(48).uint64(message.allocationSeq);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReleaseRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ReleaseRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pod = value;
                            else
                                delete message.pod;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.podUid = value;
                            else
                                delete message.podUid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.evidence = value;
                            else
                                delete message.evidence;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.allocationSeq = value;
                            else
                                delete message.allocationSeq;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ReleaseRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ReleaseRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ReleaseRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ReleaseRequest();
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.pod != null)
                    if (typeof object.pod !== "string" || object.pod.length)
                        message.pod = $String(object.pod);
                if (object.podUid != null)
                    if (typeof object.podUid !== "string" || object.podUid.length)
                        message.podUid = $String(object.podUid);
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.ReleaseCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "RELEASE_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "RELEASE_CAUSE_POD_DELETED":
                    case 1:
                        message.cause = 1;
                        break;
                    case "RELEASE_CAUSE_POD_COMPLETED":
                    case 2:
                        message.cause = 2;
                        break;
                    case "RELEASE_CAUSE_SCALED_DOWN":
                    case 3:
                        message.cause = 3;
                        break;
                    case "RELEASE_CAUSE_OWNER_DELETED":
                    case 4:
                        message.cause = 4;
                        break;
                    case "RELEASE_CAUSE_OPERATOR":
                    case 5:
                        message.cause = 5;
                        break;
                    case "RELEASE_CAUSE_GARBAGE_COLLECTED":
                    case 6:
                        message.cause = 6;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                if (object.evidence != null)
                    if (typeof object.evidence !== "string" || object.evidence.length)
                        message.evidence = $String(object.evidence);
                if (object.allocationSeq != null)
                    if (typeof object.allocationSeq === "object" ? object.allocationSeq.low || object.allocationSeq.high : $Number(object.allocationSeq) !== 0)
                        if ($util.Long)
                            message.allocationSeq = $util.Long.fromValue(object.allocationSeq, true);
                        else if (typeof object.allocationSeq === "string")
                            message.allocationSeq = $parseInt(object.allocationSeq, 10);
                        else if (typeof object.allocationSeq === "number")
                            message.allocationSeq = object.allocationSeq;
                        else if (typeof object.allocationSeq === "object")
                            message.allocationSeq = new $util.LongBits(object.allocationSeq.low >>> 0, object.allocationSeq.high >>> 0).toNumber(true);
                return message;
            };

            ReleaseRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.namespace = "";
                    object.pod = "";
                    object.podUid = "";
                    object.cause = options.enums === $String ? "RELEASE_CAUSE_UNSPECIFIED" : 0;
                    object.evidence = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.allocationSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.allocationSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                }
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = message.pod;
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid"))
                    object.podUid = message.podUid;
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.ReleaseCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.ReleaseCause[message.cause] : message.cause;
                if (message.evidence != null && $Object.hasOwnProperty.call(message, "evidence"))
                    object.evidence = message.evidence;
                if (message.allocationSeq != null && $Object.hasOwnProperty.call(message, "allocationSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.allocationSeq = typeof message.allocationSeq === "number" ? $BigInt(message.allocationSeq) : $util.Long.fromBits(message.allocationSeq.low >>> 0, message.allocationSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.allocationSeq === "number")
                        object.allocationSeq = options.longs === $String ? $String(message.allocationSeq) : message.allocationSeq;
                    else
                        object.allocationSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.allocationSeq) : options.longs === $Number ? new $util.LongBits(message.allocationSeq.low >>> 0, message.allocationSeq.high >>> 0).toNumber(true) : message.allocationSeq;
                return object;
            };

            ReleaseRequest.prototype.toJSON = function() {
                return ReleaseRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ReleaseRequest;
        })();

        v1.ReleaseReply = (function() {

            const ReleaseReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReleaseReply.prototype.position = null;
            ReleaseReply.prototype.released = 0;

            ReleaseReply.create = function(properties) {
                return new ReleaseReply(properties);
            };

            ReleaseReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.released != null && $Object.hasOwnProperty.call(message, "released") && message.released !== 0)
                    writer.uint32(16).uint32(message.released);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReleaseReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ReleaseReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.released = value;
                            else
                                delete message.released;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ReleaseReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ReleaseReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ReleaseReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ReleaseReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ReleaseReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.released != null)
                    if ($Number(object.released) !== 0)
                        message.released = object.released >>> 0;
                return message;
            };

            ReleaseReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.released = 0;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.released != null && $Object.hasOwnProperty.call(message, "released"))
                    object.released = message.released;
                return object;
            };

            ReleaseReply.prototype.toJSON = function() {
                return ReleaseReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ReleaseReply;
        })();

        v1.WaitRequest = (function() {

            const WaitRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            WaitRequest.prototype.namespace = "";
            WaitRequest.prototype.pod = "";
            WaitRequest.prototype.podUid = "";
            WaitRequest.prototype.provider = "";
            WaitRequest.prototype["interface"] = "";
            WaitRequest.prototype.containerId = "";
            WaitRequest.prototype.timeoutMs = 0;

            WaitRequest.create = function(properties) {
                return new WaitRequest(properties);
            };

            WaitRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(10).string(message.namespace);
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod !== "")
                    writer.uint32(18).string(message.pod);
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid") && message.podUid !== "")
                    writer.uint32(26).string(message.podUid);
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider") && message.provider !== "")
                    writer.uint32(34).string(message.provider);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(42).string(message["interface"]);
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId") && message.containerId !== "")
                    writer.uint32(50).string(message.containerId);
                if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs") && message.timeoutMs !== 0)
                    writer.uint32(56).uint32(message.timeoutMs);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            WaitRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.WaitRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pod = value;
                            else
                                delete message.pod;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.podUid = value;
                            else
                                delete message.podUid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.provider = value;
                            else
                                delete message.provider;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.containerId = value;
                            else
                                delete message.containerId;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.timeoutMs = value;
                            else
                                delete message.timeoutMs;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            WaitRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.WaitRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.WaitRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.WaitRequest();
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.pod != null)
                    if (typeof object.pod !== "string" || object.pod.length)
                        message.pod = $String(object.pod);
                if (object.podUid != null)
                    if (typeof object.podUid !== "string" || object.podUid.length)
                        message.podUid = $String(object.podUid);
                if (object.provider != null)
                    if (typeof object.provider !== "string" || object.provider.length)
                        message.provider = $String(object.provider);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.containerId != null)
                    if (typeof object.containerId !== "string" || object.containerId.length)
                        message.containerId = $String(object.containerId);
                if (object.timeoutMs != null)
                    if ($Number(object.timeoutMs) !== 0)
                        message.timeoutMs = object.timeoutMs >>> 0;
                return message;
            };

            WaitRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.namespace = "";
                    object.pod = "";
                    object.podUid = "";
                    object.provider = "";
                    object["interface"] = "";
                    object.containerId = "";
                    object.timeoutMs = 0;
                }
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = message.pod;
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid"))
                    object.podUid = message.podUid;
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider"))
                    object.provider = message.provider;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId"))
                    object.containerId = message.containerId;
                if (message.timeoutMs != null && $Object.hasOwnProperty.call(message, "timeoutMs"))
                    object.timeoutMs = message.timeoutMs;
                return object;
            };

            WaitRequest.prototype.toJSON = function() {
                return WaitRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return WaitRequest;
        })();

        v1.WaitReply = (function() {

            const WaitReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            WaitReply.prototype.position = null;
            WaitReply.prototype.allocation = null;

            WaitReply.create = function(properties) {
                return new WaitReply(properties);
            };

            WaitReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.allocation != null && $Object.hasOwnProperty.call(message, "allocation"))
                    $root.ipledger.v1.Allocation.encode(message.allocation, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            WaitReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.WaitReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.allocation = $root.ipledger.v1.Allocation.decode(reader, reader.size(), $undefined, _depth + 1, message.allocation);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            WaitReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.WaitReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.WaitReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.WaitReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.WaitReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.allocation != null) {
                    if (!$util.isObject(object.allocation))
                        throw $TypeError(".ipledger.v1.WaitReply.allocation: object expected");
                    message.allocation = $root.ipledger.v1.Allocation.fromObject(object.allocation, _depth + 1);
                }
                return message;
            };

            WaitReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.allocation = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.allocation != null && $Object.hasOwnProperty.call(message, "allocation"))
                    object.allocation = $root.ipledger.v1.Allocation.toObject(message.allocation, options, _depth + 1);
                return object;
            };

            WaitReply.prototype.toJSON = function() {
                return WaitReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return WaitReply;
        })();

        v1.BindRequest = (function() {

            const BindRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            BindRequest.prototype.namespace = "";
            BindRequest.prototype.pod = "";
            BindRequest.prototype.podUid = "";
            BindRequest.prototype.provider = "";
            BindRequest.prototype.containerId = "";
            BindRequest.prototype["interface"] = "";
            BindRequest.prototype.node = "";
            BindRequest.prototype.bootId = "";

            BindRequest.create = function(properties) {
                return new BindRequest(properties);
            };

            BindRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(10).string(message.namespace);
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod !== "")
                    writer.uint32(18).string(message.pod);
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid") && message.podUid !== "")
                    writer.uint32(26).string(message.podUid);
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider") && message.provider !== "")
                    writer.uint32(34).string(message.provider);
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId") && message.containerId !== "")
                    writer.uint32(42).string(message.containerId);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(50).string(message["interface"]);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(58).string(message.node);
                if (message.bootId != null && $Object.hasOwnProperty.call(message, "bootId") && message.bootId !== "")
                    writer.uint32(66).string(message.bootId);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            BindRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.BindRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pod = value;
                            else
                                delete message.pod;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.podUid = value;
                            else
                                delete message.podUid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.provider = value;
                            else
                                delete message.provider;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.containerId = value;
                            else
                                delete message.containerId;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.bootId = value;
                            else
                                delete message.bootId;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            BindRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.BindRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.BindRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.BindRequest();
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.pod != null)
                    if (typeof object.pod !== "string" || object.pod.length)
                        message.pod = $String(object.pod);
                if (object.podUid != null)
                    if (typeof object.podUid !== "string" || object.podUid.length)
                        message.podUid = $String(object.podUid);
                if (object.provider != null)
                    if (typeof object.provider !== "string" || object.provider.length)
                        message.provider = $String(object.provider);
                if (object.containerId != null)
                    if (typeof object.containerId !== "string" || object.containerId.length)
                        message.containerId = $String(object.containerId);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.bootId != null)
                    if (typeof object.bootId !== "string" || object.bootId.length)
                        message.bootId = $String(object.bootId);
                return message;
            };

            BindRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.namespace = "";
                    object.pod = "";
                    object.podUid = "";
                    object.provider = "";
                    object.containerId = "";
                    object["interface"] = "";
                    object.node = "";
                    object.bootId = "";
                }
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = message.pod;
                if (message.podUid != null && $Object.hasOwnProperty.call(message, "podUid"))
                    object.podUid = message.podUid;
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider"))
                    object.provider = message.provider;
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId"))
                    object.containerId = message.containerId;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.bootId != null && $Object.hasOwnProperty.call(message, "bootId"))
                    object.bootId = message.bootId;
                return object;
            };

            BindRequest.prototype.toJSON = function() {
                return BindRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return BindRequest;
        })();

        v1.BindReply = (function() {

            const BindReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            BindReply.prototype.position = null;
            BindReply.prototype.allocation = null;

            BindReply.create = function(properties) {
                return new BindReply(properties);
            };

            BindReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.allocation != null && $Object.hasOwnProperty.call(message, "allocation"))
                    $root.ipledger.v1.Allocation.encode(message.allocation, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            BindReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.BindReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.allocation = $root.ipledger.v1.Allocation.decode(reader, reader.size(), $undefined, _depth + 1, message.allocation);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            BindReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.BindReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.BindReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.BindReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.BindReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.allocation != null) {
                    if (!$util.isObject(object.allocation))
                        throw $TypeError(".ipledger.v1.BindReply.allocation: object expected");
                    message.allocation = $root.ipledger.v1.Allocation.fromObject(object.allocation, _depth + 1);
                }
                return message;
            };

            BindReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.allocation = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.allocation != null && $Object.hasOwnProperty.call(message, "allocation"))
                    object.allocation = $root.ipledger.v1.Allocation.toObject(message.allocation, options, _depth + 1);
                return object;
            };

            BindReply.prototype.toJSON = function() {
                return BindReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return BindReply;
        })();

        v1.UnbindRequest = (function() {

            const UnbindRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            UnbindRequest.prototype.namespace = "";
            UnbindRequest.prototype.pod = "";
            UnbindRequest.prototype.provider = "";
            UnbindRequest.prototype.containerId = "";
            UnbindRequest.prototype["interface"] = "";
            UnbindRequest.prototype.cause = 0;

            UnbindRequest.create = function(properties) {
                return new UnbindRequest(properties);
            };

            UnbindRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(10).string(message.namespace);
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod !== "")
                    writer.uint32(18).string(message.pod);
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider") && message.provider !== "")
                    writer.uint32(26).string(message.provider);
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId") && message.containerId !== "")
                    writer.uint32(34).string(message.containerId);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(42).string(message["interface"]);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(48).int32(message.cause);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            UnbindRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.UnbindRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pod = value;
                            else
                                delete message.pod;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.provider = value;
                            else
                                delete message.provider;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.containerId = value;
                            else
                                delete message.containerId;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            UnbindRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.UnbindRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.UnbindRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.UnbindRequest();
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.pod != null)
                    if (typeof object.pod !== "string" || object.pod.length)
                        message.pod = $String(object.pod);
                if (object.provider != null)
                    if (typeof object.provider !== "string" || object.provider.length)
                        message.provider = $String(object.provider);
                if (object.containerId != null)
                    if (typeof object.containerId !== "string" || object.containerId.length)
                        message.containerId = $String(object.containerId);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.UnbindCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "UNBIND_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "UNBIND_CAUSE_CONTAINER_DELETED":
                    case 1:
                        message.cause = 1;
                        break;
                    case "UNBIND_CAUSE_GARBAGE_COLLECTED":
                    case 2:
                        message.cause = 2;
                        break;
                    case "UNBIND_CAUSE_NODE_REBOOTED":
                    case 3:
                        message.cause = 3;
                        break;
                    case "UNBIND_CAUSE_NODE_DELETED":
                    case 4:
                        message.cause = 4;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                return message;
            };

            UnbindRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.namespace = "";
                    object.pod = "";
                    object.provider = "";
                    object.containerId = "";
                    object["interface"] = "";
                    object.cause = options.enums === $String ? "UNBIND_CAUSE_UNSPECIFIED" : 0;
                }
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = message.pod;
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider"))
                    object.provider = message.provider;
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId"))
                    object.containerId = message.containerId;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.UnbindCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.UnbindCause[message.cause] : message.cause;
                return object;
            };

            UnbindRequest.prototype.toJSON = function() {
                return UnbindRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return UnbindRequest;
        })();

        v1.UnbindReply = (function() {

            const UnbindReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            UnbindReply.prototype.position = null;
            UnbindReply.prototype.unbound = 0;

            UnbindReply.create = function(properties) {
                return new UnbindReply(properties);
            };

            UnbindReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.unbound != null && $Object.hasOwnProperty.call(message, "unbound") && message.unbound !== 0)
                    writer.uint32(16).uint32(message.unbound);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            UnbindReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.UnbindReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.unbound = value;
                            else
                                delete message.unbound;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            UnbindReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.UnbindReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.UnbindReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.UnbindReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.UnbindReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.unbound != null)
                    if ($Number(object.unbound) !== 0)
                        message.unbound = object.unbound >>> 0;
                return message;
            };

            UnbindReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.unbound = 0;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.unbound != null && $Object.hasOwnProperty.call(message, "unbound"))
                    object.unbound = message.unbound;
                return object;
            };

            UnbindReply.prototype.toJSON = function() {
                return UnbindReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return UnbindReply;
        })();

        v1.ListBindingsRequest = (function() {

            const ListBindingsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListBindingsRequest.prototype.node = "";
            ListBindingsRequest.prototype.pageSize = 0;
            ListBindingsRequest.prototype.pageToken = "";
            ListBindingsRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ListBindingsRequest.prototype.consistency = 0;

            ListBindingsRequest.create = function(properties) {
                return new ListBindingsRequest(properties);
            };

            ListBindingsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(10).string(message.node);
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize") && message.pageSize !== 0)
                    writer.uint32(16).uint32(message.pageSize);
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken") && message.pageToken !== "")
                    writer.uint32(26).string(message.pageToken);
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(32).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(40).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListBindingsRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListBindingsRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.pageSize = value;
                            else
                                delete message.pageSize;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pageToken = value;
                            else
                                delete message.pageToken;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListBindingsRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListBindingsRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListBindingsRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListBindingsRequest();
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.pageSize != null)
                    if ($Number(object.pageSize) !== 0)
                        message.pageSize = object.pageSize >>> 0;
                if (object.pageToken != null)
                    if (typeof object.pageToken !== "string" || object.pageToken.length)
                        message.pageToken = $String(object.pageToken);
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            ListBindingsRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.node = "";
                    object.pageSize = 0;
                    object.pageToken = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize"))
                    object.pageSize = message.pageSize;
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken"))
                    object.pageToken = message.pageToken;
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            ListBindingsRequest.prototype.toJSON = function() {
                return ListBindingsRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListBindingsRequest;
        })();

        v1.ListBindingsReply = (function() {

            const ListBindingsReply = function (properties) {
                this.bindings = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListBindingsReply.prototype.position = null;
            ListBindingsReply.prototype.bindings = $util.emptyArray;
            ListBindingsReply.prototype.nextPageToken = "";

            ListBindingsReply.create = function(properties) {
                return new ListBindingsReply(properties);
            };

            ListBindingsReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.bindings != null && message.bindings.length)
                    for (let i = 0; i < message.bindings.length; ++i)
                        $root.ipledger.v1.SandboxBinding.encode(message.bindings[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken") && message.nextPageToken !== "")
                    writer.uint32(26).string(message.nextPageToken);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListBindingsReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListBindingsReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.bindings && message.bindings.length))
                                message.bindings = [];
                            message.bindings.push($root.ipledger.v1.SandboxBinding.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.nextPageToken = value;
                            else
                                delete message.nextPageToken;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListBindingsReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListBindingsReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListBindingsReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListBindingsReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ListBindingsReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.bindings) {
                    if (!$Array.isArray(object.bindings))
                        throw $TypeError(".ipledger.v1.ListBindingsReply.bindings: array expected");
                    message.bindings = $Array(object.bindings.length);
                    for (let i = 0; i < object.bindings.length; ++i) {
                        if (!$util.isObject(object.bindings[i]))
                            throw $TypeError(".ipledger.v1.ListBindingsReply.bindings: object expected");
                        message.bindings[i] = $root.ipledger.v1.SandboxBinding.fromObject(object.bindings[i], _depth + 1);
                    }
                }
                if (object.nextPageToken != null)
                    if (typeof object.nextPageToken !== "string" || object.nextPageToken.length)
                        message.nextPageToken = $String(object.nextPageToken);
                return message;
            };

            ListBindingsReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.bindings = [];
                if (options.defaults) {
                    object.position = null;
                    object.nextPageToken = "";
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.bindings && message.bindings.length) {
                    object.bindings = $Array(message.bindings.length);
                    for (let j = 0; j < message.bindings.length; ++j)
                        object.bindings[j] = $root.ipledger.v1.SandboxBinding.toObject(message.bindings[j], options, _depth + 1);
                }
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken"))
                    object.nextPageToken = message.nextPageToken;
                return object;
            };

            ListBindingsReply.prototype.toJSON = function() {
                return ListBindingsReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListBindingsReply;
        })();

        v1.SandboxBinding = (function() {

            const SandboxBinding = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            SandboxBinding.prototype.attachment = null;
            SandboxBinding.prototype.subnet = "";
            SandboxBinding.prototype.addresses = $util.emptyArray;
            SandboxBinding.prototype.binding = null;

            SandboxBinding.create = function(properties) {
                return new SandboxBinding(properties);
            };

            SandboxBinding.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(18).string(message.subnet);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(26).string(message.addresses[i]);
                if (message.binding != null && $Object.hasOwnProperty.call(message, "binding"))
                    $root.ipledger.v1.Binding.encode(message.binding, writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            SandboxBinding.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.SandboxBinding();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            message.binding = $root.ipledger.v1.Binding.decode(reader, reader.size(), $undefined, _depth + 1, message.binding);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            SandboxBinding.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.SandboxBinding)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.SandboxBinding: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.SandboxBinding();
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.SandboxBinding.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.SandboxBinding.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.binding != null) {
                    if (!$util.isObject(object.binding))
                        throw $TypeError(".ipledger.v1.SandboxBinding.binding: object expected");
                    message.binding = $root.ipledger.v1.Binding.fromObject(object.binding, _depth + 1);
                }
                return message;
            };

            SandboxBinding.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    object.attachment = null;
                    object.subnet = "";
                    object.binding = null;
                }
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.binding != null && $Object.hasOwnProperty.call(message, "binding"))
                    object.binding = $root.ipledger.v1.Binding.toObject(message.binding, options, _depth + 1);
                return object;
            };

            SandboxBinding.prototype.toJSON = function() {
                return SandboxBinding.toObject(this, $protobuf.util.toJSONOptions);
            };

            return SandboxBinding;
        })();

        v1.GetRequest = (function() {

            const GetRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetRequest.prototype.subnet = "";
            GetRequest.prototype.address = "";
            GetRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            GetRequest.prototype.consistency = 0;

            GetRequest.create = function(properties) {
                return new GetRequest(properties);
            };

            GetRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(18).string(message.address);
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(24).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(32).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.GetRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            GetRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.GetRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.GetRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.GetRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            GetRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.subnet = "";
                    object.address = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            GetRequest.prototype.toJSON = function() {
                return GetRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return GetRequest;
        })();

        v1.GetReply = (function() {

            const GetReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetReply.prototype.position = null;
            GetReply.prototype.record = null;

            GetReply.create = function(properties) {
                return new GetReply(properties);
            };

            GetReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.record != null && $Object.hasOwnProperty.call(message, "record"))
                    $root.ipledger.v1.AddressRecord.encode(message.record, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.GetReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.record = $root.ipledger.v1.AddressRecord.decode(reader, reader.size(), $undefined, _depth + 1, message.record);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            GetReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.GetReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.GetReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.GetReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.GetReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.record != null) {
                    if (!$util.isObject(object.record))
                        throw $TypeError(".ipledger.v1.GetReply.record: object expected");
                    message.record = $root.ipledger.v1.AddressRecord.fromObject(object.record, _depth + 1);
                }
                return message;
            };

            GetReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.record = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.record != null && $Object.hasOwnProperty.call(message, "record"))
                    object.record = $root.ipledger.v1.AddressRecord.toObject(message.record, options, _depth + 1);
                return object;
            };

            GetReply.prototype.toJSON = function() {
                return GetReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return GetReply;
        })();

        v1.ListRequest = (function() {

            const ListRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListRequest.prototype.subnet = "";
            ListRequest.prototype.namespace = "";
            ListRequest.prototype.pod = "";
            ListRequest.prototype.node = "";
            ListRequest.prototype.pageSize = 0;
            ListRequest.prototype.pageToken = "";
            ListRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ListRequest.prototype.consistency = 0;

            ListRequest.create = function(properties) {
                return new ListRequest(properties);
            };

            ListRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace") && message.namespace !== "")
                    writer.uint32(18).string(message.namespace);
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod") && message.pod !== "")
                    writer.uint32(26).string(message.pod);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(34).string(message.node);
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize") && message.pageSize !== 0)
                    writer.uint32(40).uint32(message.pageSize);
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken") && message.pageToken !== "")
                    writer.uint32(50).string(message.pageToken);
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(56).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(64).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.namespace = value;
                            else
                                delete message.namespace;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pod = value;
                            else
                                delete message.pod;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.pageSize = value;
                            else
                                delete message.pageSize;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pageToken = value;
                            else
                                delete message.pageToken;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.namespace != null)
                    if (typeof object.namespace !== "string" || object.namespace.length)
                        message.namespace = $String(object.namespace);
                if (object.pod != null)
                    if (typeof object.pod !== "string" || object.pod.length)
                        message.pod = $String(object.pod);
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.pageSize != null)
                    if ($Number(object.pageSize) !== 0)
                        message.pageSize = object.pageSize >>> 0;
                if (object.pageToken != null)
                    if (typeof object.pageToken !== "string" || object.pageToken.length)
                        message.pageToken = $String(object.pageToken);
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            ListRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.subnet = "";
                    object.namespace = "";
                    object.pod = "";
                    object.node = "";
                    object.pageSize = 0;
                    object.pageToken = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.namespace != null && $Object.hasOwnProperty.call(message, "namespace"))
                    object.namespace = message.namespace;
                if (message.pod != null && $Object.hasOwnProperty.call(message, "pod"))
                    object.pod = message.pod;
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize"))
                    object.pageSize = message.pageSize;
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken"))
                    object.pageToken = message.pageToken;
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            ListRequest.prototype.toJSON = function() {
                return ListRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListRequest;
        })();

        v1.ListReply = (function() {

            const ListReply = function (properties) {
                this.allocations = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListReply.prototype.position = null;
            ListReply.prototype.allocations = $util.emptyArray;
            ListReply.prototype.nextPageToken = "";

            ListReply.create = function(properties) {
                return new ListReply(properties);
            };

            ListReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.allocations != null && message.allocations.length)
                    for (let i = 0; i < message.allocations.length; ++i)
                        $root.ipledger.v1.Allocation.encode(message.allocations[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken") && message.nextPageToken !== "")
                    writer.uint32(26).string(message.nextPageToken);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.allocations && message.allocations.length))
                                message.allocations = [];
                            message.allocations.push($root.ipledger.v1.Allocation.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.nextPageToken = value;
                            else
                                delete message.nextPageToken;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ListReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.allocations) {
                    if (!$Array.isArray(object.allocations))
                        throw $TypeError(".ipledger.v1.ListReply.allocations: array expected");
                    message.allocations = $Array(object.allocations.length);
                    for (let i = 0; i < object.allocations.length; ++i) {
                        if (!$util.isObject(object.allocations[i]))
                            throw $TypeError(".ipledger.v1.ListReply.allocations: object expected");
                        message.allocations[i] = $root.ipledger.v1.Allocation.fromObject(object.allocations[i], _depth + 1);
                    }
                }
                if (object.nextPageToken != null)
                    if (typeof object.nextPageToken !== "string" || object.nextPageToken.length)
                        message.nextPageToken = $String(object.nextPageToken);
                return message;
            };

            ListReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.allocations = [];
                if (options.defaults) {
                    object.position = null;
                    object.nextPageToken = "";
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.allocations && message.allocations.length) {
                    object.allocations = $Array(message.allocations.length);
                    for (let j = 0; j < message.allocations.length; ++j)
                        object.allocations[j] = $root.ipledger.v1.Allocation.toObject(message.allocations[j], options, _depth + 1);
                }
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken"))
                    object.nextPageToken = message.nextPageToken;
                return object;
            };

            ListReply.prototype.toJSON = function() {
                return ListReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListReply;
        })();

        v1.ReserveRequest = (function() {

            const ReserveRequest = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReserveRequest.prototype.subnet = "";
            ReserveRequest.prototype.addresses = $util.emptyArray;
            ReserveRequest.prototype.reservedFor = "";
            ReserveRequest.prototype.reason = "";
            ReserveRequest.prototype.mac = "";
            ReserveRequest.prototype.ipFamily = "";

            ReserveRequest.create = function(properties) {
                return new ReserveRequest(properties);
            };

            ReserveRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(18).string(message.addresses[i]);
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor") && message.reservedFor !== "")
                    writer.uint32(26).string(message.reservedFor);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(34).string(message.reason);
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(42).string(message.mac);
                if (message.ipFamily != null && $Object.hasOwnProperty.call(message, "ipFamily") && message.ipFamily !== "")
                    writer.uint32(50).string(message.ipFamily);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReserveRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ReserveRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedFor = value;
                            else
                                delete message.reservedFor;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.ipFamily = value;
                            else
                                delete message.ipFamily;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ReserveRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ReserveRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ReserveRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ReserveRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.ReserveRequest.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.reservedFor != null)
                    if (typeof object.reservedFor !== "string" || object.reservedFor.length)
                        message.reservedFor = $String(object.reservedFor);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                if (object.ipFamily != null)
                    if (typeof object.ipFamily !== "string" || object.ipFamily.length)
                        message.ipFamily = $String(object.ipFamily);
                return message;
            };

            ReserveRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    object.subnet = "";
                    object.reservedFor = "";
                    object.reason = "";
                    object.mac = "";
                    object.ipFamily = "";
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor"))
                    object.reservedFor = message.reservedFor;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                if (message.ipFamily != null && $Object.hasOwnProperty.call(message, "ipFamily"))
                    object.ipFamily = message.ipFamily;
                return object;
            };

            ReserveRequest.prototype.toJSON = function() {
                return ReserveRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ReserveRequest;
        })();

        v1.ReserveReply = (function() {

            const ReserveReply = function (properties) {
                this.records = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReserveReply.prototype.position = null;
            ReserveReply.prototype.records = $util.emptyArray;

            ReserveReply.create = function(properties) {
                return new ReserveReply(properties);
            };

            ReserveReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.records != null && message.records.length)
                    for (let i = 0; i < message.records.length; ++i)
                        $root.ipledger.v1.AddressRecord.encode(message.records[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReserveReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ReserveReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.records && message.records.length))
                                message.records = [];
                            message.records.push($root.ipledger.v1.AddressRecord.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ReserveReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ReserveReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ReserveReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ReserveReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ReserveReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.records) {
                    if (!$Array.isArray(object.records))
                        throw $TypeError(".ipledger.v1.ReserveReply.records: array expected");
                    message.records = $Array(object.records.length);
                    for (let i = 0; i < object.records.length; ++i) {
                        if (!$util.isObject(object.records[i]))
                            throw $TypeError(".ipledger.v1.ReserveReply.records: object expected");
                        message.records[i] = $root.ipledger.v1.AddressRecord.fromObject(object.records[i], _depth + 1);
                    }
                }
                return message;
            };

            ReserveReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.records = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.records && message.records.length) {
                    object.records = $Array(message.records.length);
                    for (let j = 0; j < message.records.length; ++j)
                        object.records[j] = $root.ipledger.v1.AddressRecord.toObject(message.records[j], options, _depth + 1);
                }
                return object;
            };

            ReserveReply.prototype.toJSON = function() {
                return ReserveReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ReserveReply;
        })();

        v1.UnreserveRequest = (function() {

            const UnreserveRequest = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            UnreserveRequest.prototype.subnet = "";
            UnreserveRequest.prototype.addresses = $util.emptyArray;
            UnreserveRequest.prototype.reservedFor = "";
            UnreserveRequest.prototype.reason = "";

            UnreserveRequest.create = function(properties) {
                return new UnreserveRequest(properties);
            };

            UnreserveRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(18).string(message.addresses[i]);
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor") && message.reservedFor !== "")
                    writer.uint32(26).string(message.reservedFor);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(34).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            UnreserveRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.UnreserveRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedFor = value;
                            else
                                delete message.reservedFor;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            UnreserveRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.UnreserveRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.UnreserveRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.UnreserveRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.UnreserveRequest.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.reservedFor != null)
                    if (typeof object.reservedFor !== "string" || object.reservedFor.length)
                        message.reservedFor = $String(object.reservedFor);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            UnreserveRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    object.subnet = "";
                    object.reservedFor = "";
                    object.reason = "";
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor"))
                    object.reservedFor = message.reservedFor;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            UnreserveRequest.prototype.toJSON = function() {
                return UnreserveRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return UnreserveRequest;
        })();

        v1.UnreserveReply = (function() {

            const UnreserveReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            UnreserveReply.prototype.position = null;

            UnreserveReply.create = function(properties) {
                return new UnreserveReply(properties);
            };

            UnreserveReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            UnreserveReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.UnreserveReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            UnreserveReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.UnreserveReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.UnreserveReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.UnreserveReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.UnreserveReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                return message;
            };

            UnreserveReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                return object;
            };

            UnreserveReply.prototype.toJSON = function() {
                return UnreserveReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return UnreserveReply;
        })();

        v1.ListReservationsRequest = (function() {

            const ListReservationsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListReservationsRequest.prototype.subnet = "";
            ListReservationsRequest.prototype.reservedFor = "";
            ListReservationsRequest.prototype.pageSize = 0;
            ListReservationsRequest.prototype.pageToken = "";
            ListReservationsRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ListReservationsRequest.prototype.consistency = 0;

            ListReservationsRequest.create = function(properties) {
                return new ListReservationsRequest(properties);
            };

            ListReservationsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor") && message.reservedFor !== "")
                    writer.uint32(18).string(message.reservedFor);
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize") && message.pageSize !== 0)
                    writer.uint32(24).uint32(message.pageSize);
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken") && message.pageToken !== "")
                    writer.uint32(34).string(message.pageToken);
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(40).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(48).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListReservationsRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListReservationsRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedFor = value;
                            else
                                delete message.reservedFor;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.pageSize = value;
                            else
                                delete message.pageSize;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pageToken = value;
                            else
                                delete message.pageToken;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListReservationsRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListReservationsRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListReservationsRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListReservationsRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.reservedFor != null)
                    if (typeof object.reservedFor !== "string" || object.reservedFor.length)
                        message.reservedFor = $String(object.reservedFor);
                if (object.pageSize != null)
                    if ($Number(object.pageSize) !== 0)
                        message.pageSize = object.pageSize >>> 0;
                if (object.pageToken != null)
                    if (typeof object.pageToken !== "string" || object.pageToken.length)
                        message.pageToken = $String(object.pageToken);
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            ListReservationsRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.subnet = "";
                    object.reservedFor = "";
                    object.pageSize = 0;
                    object.pageToken = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor"))
                    object.reservedFor = message.reservedFor;
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize"))
                    object.pageSize = message.pageSize;
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken"))
                    object.pageToken = message.pageToken;
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            ListReservationsRequest.prototype.toJSON = function() {
                return ListReservationsRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListReservationsRequest;
        })();

        v1.ListReservationsReply = (function() {

            const ListReservationsReply = function (properties) {
                this.records = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListReservationsReply.prototype.position = null;
            ListReservationsReply.prototype.records = $util.emptyArray;
            ListReservationsReply.prototype.nextPageToken = "";

            ListReservationsReply.create = function(properties) {
                return new ListReservationsReply(properties);
            };

            ListReservationsReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.records != null && message.records.length)
                    for (let i = 0; i < message.records.length; ++i)
                        $root.ipledger.v1.AddressRecord.encode(message.records[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken") && message.nextPageToken !== "")
                    writer.uint32(26).string(message.nextPageToken);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListReservationsReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListReservationsReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.records && message.records.length))
                                message.records = [];
                            message.records.push($root.ipledger.v1.AddressRecord.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.nextPageToken = value;
                            else
                                delete message.nextPageToken;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListReservationsReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListReservationsReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListReservationsReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListReservationsReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ListReservationsReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.records) {
                    if (!$Array.isArray(object.records))
                        throw $TypeError(".ipledger.v1.ListReservationsReply.records: array expected");
                    message.records = $Array(object.records.length);
                    for (let i = 0; i < object.records.length; ++i) {
                        if (!$util.isObject(object.records[i]))
                            throw $TypeError(".ipledger.v1.ListReservationsReply.records: object expected");
                        message.records[i] = $root.ipledger.v1.AddressRecord.fromObject(object.records[i], _depth + 1);
                    }
                }
                if (object.nextPageToken != null)
                    if (typeof object.nextPageToken !== "string" || object.nextPageToken.length)
                        message.nextPageToken = $String(object.nextPageToken);
                return message;
            };

            ListReservationsReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.records = [];
                if (options.defaults) {
                    object.position = null;
                    object.nextPageToken = "";
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.records && message.records.length) {
                    object.records = $Array(message.records.length);
                    for (let j = 0; j < message.records.length; ++j)
                        object.records[j] = $root.ipledger.v1.AddressRecord.toObject(message.records[j], options, _depth + 1);
                }
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken"))
                    object.nextPageToken = message.nextPageToken;
                return object;
            };

            ListReservationsReply.prototype.toJSON = function() {
                return ListReservationsReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListReservationsReply;
        })();

        v1.QuarantineRequest = (function() {

            const QuarantineRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            QuarantineRequest.prototype.subnet = "";
            QuarantineRequest.prototype.address = "";
            QuarantineRequest.prototype.seenMac = "";
            QuarantineRequest.prototype.seenAt = "";
            QuarantineRequest.prototype.reason = "";

            QuarantineRequest.create = function(properties) {
                return new QuarantineRequest(properties);
            };

            QuarantineRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(18).string(message.address);
                if (message.seenMac != null && $Object.hasOwnProperty.call(message, "seenMac") && message.seenMac !== "")
                    writer.uint32(26).string(message.seenMac);
                if (message.seenAt != null && $Object.hasOwnProperty.call(message, "seenAt") && message.seenAt !== "")
                    writer.uint32(34).string(message.seenAt);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(42).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            QuarantineRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.QuarantineRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.seenMac = value;
                            else
                                delete message.seenMac;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.seenAt = value;
                            else
                                delete message.seenAt;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            QuarantineRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.QuarantineRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.QuarantineRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.QuarantineRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.seenMac != null)
                    if (typeof object.seenMac !== "string" || object.seenMac.length)
                        message.seenMac = $String(object.seenMac);
                if (object.seenAt != null)
                    if (typeof object.seenAt !== "string" || object.seenAt.length)
                        message.seenAt = $String(object.seenAt);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            QuarantineRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.subnet = "";
                    object.address = "";
                    object.seenMac = "";
                    object.seenAt = "";
                    object.reason = "";
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.seenMac != null && $Object.hasOwnProperty.call(message, "seenMac"))
                    object.seenMac = message.seenMac;
                if (message.seenAt != null && $Object.hasOwnProperty.call(message, "seenAt"))
                    object.seenAt = message.seenAt;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            QuarantineRequest.prototype.toJSON = function() {
                return QuarantineRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return QuarantineRequest;
        })();

        v1.QuarantineReply = (function() {

            const QuarantineReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            QuarantineReply.prototype.position = null;

            QuarantineReply.create = function(properties) {
                return new QuarantineReply(properties);
            };

            QuarantineReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            QuarantineReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.QuarantineReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            QuarantineReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.QuarantineReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.QuarantineReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.QuarantineReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.QuarantineReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                return message;
            };

            QuarantineReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                return object;
            };

            QuarantineReply.prototype.toJSON = function() {
                return QuarantineReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return QuarantineReply;
        })();

        v1.LiftRequest = (function() {

            const LiftRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            LiftRequest.prototype.subnet = "";
            LiftRequest.prototype.address = "";
            LiftRequest.prototype.reason = "";

            LiftRequest.create = function(properties) {
                return new LiftRequest(properties);
            };

            LiftRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(18).string(message.address);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(26).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            LiftRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.LiftRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            LiftRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.LiftRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.LiftRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.LiftRequest();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            LiftRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.subnet = "";
                    object.address = "";
                    object.reason = "";
                }
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            LiftRequest.prototype.toJSON = function() {
                return LiftRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return LiftRequest;
        })();

        v1.LiftReply = (function() {

            const LiftReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            LiftReply.prototype.position = null;

            LiftReply.create = function(properties) {
                return new LiftReply(properties);
            };

            LiftReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            LiftReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.LiftReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            LiftReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.LiftReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.LiftReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.LiftReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.LiftReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                return message;
            };

            LiftReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                return object;
            };

            LiftReply.prototype.toJSON = function() {
                return LiftReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return LiftReply;
        })();

        v1.SubnetSpec = (function() {

            const SubnetSpec = function (properties) {
                this.excludeIps = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            SubnetSpec.prototype.cidrBlock = "";
            SubnetSpec.prototype.gateway = "";
            SubnetSpec.prototype.excludeIps = $util.emptyArray;
            SubnetSpec.prototype.provider = "";
            SubnetSpec.prototype.protocol = "";
            SubnetSpec.prototype.cooldownMs = null;
            SubnetSpec.prototype.bindingTimeoutMs = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(SubnetSpec.prototype, "_cooldownMs", {
                get: $util.oneOfGetter($oneOfFields = ["cooldownMs"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(SubnetSpec.prototype, "_bindingTimeoutMs", {
                get: $util.oneOfGetter($oneOfFields = ["bindingTimeoutMs"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            SubnetSpec.create = function(properties) {
                return new SubnetSpec(properties);
            };

            SubnetSpec.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.cidrBlock != null && $Object.hasOwnProperty.call(message, "cidrBlock") && message.cidrBlock !== "")
                    writer.uint32(10).string(message.cidrBlock);
                if (message.gateway != null && $Object.hasOwnProperty.call(message, "gateway") && message.gateway !== "")
                    writer.uint32(18).string(message.gateway);
                if (message.excludeIps != null && message.excludeIps.length)
                    for (let i = 0; i < message.excludeIps.length; ++i)
                        writer.uint32(26).string(message.excludeIps[i]);
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider") && message.provider !== "")
                    writer.uint32(34).string(message.provider);
                if (message.protocol != null && $Object.hasOwnProperty.call(message, "protocol") && message.protocol !== "")
                    writer.uint32(42).string(message.protocol);
                if (message.cooldownMs != null && $Object.hasOwnProperty.call(message, "cooldownMs"))
                    writer.uint32(48).uint64(message.cooldownMs);
                if (message.bindingTimeoutMs != null && $Object.hasOwnProperty.call(message, "bindingTimeoutMs"))
                    writer.uint32(56).uint64(message.bindingTimeoutMs);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            SubnetSpec.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.SubnetSpec();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.cidrBlock = value;
                            else
                                delete message.cidrBlock;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.gateway = value;
                            else
                                delete message.gateway;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.excludeIps && message.excludeIps.length))
                                message.excludeIps = [];
                            message.excludeIps.push(reader.stringVerify());
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.provider = value;
                            else
                                delete message.provider;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.protocol = value;
                            else
                                delete message.protocol;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 0)
                                break;
                            message.cooldownMs = reader.uint64();
                            message._cooldownMs = "cooldownMs";
                            continue;
                        }
                    case 7: {
                            if (wireType !== 0)
                                break;
                            message.bindingTimeoutMs = reader.uint64();
                            message._bindingTimeoutMs = "bindingTimeoutMs";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            SubnetSpec.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.SubnetSpec)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.SubnetSpec: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.SubnetSpec();
                if (object.cidrBlock != null)
                    if (typeof object.cidrBlock !== "string" || object.cidrBlock.length)
                        message.cidrBlock = $String(object.cidrBlock);
                if (object.gateway != null)
                    if (typeof object.gateway !== "string" || object.gateway.length)
                        message.gateway = $String(object.gateway);
                if (object.excludeIps) {
                    if (!$Array.isArray(object.excludeIps))
                        throw $TypeError(".ipledger.v1.SubnetSpec.excludeIps: array expected");
                    message.excludeIps = $Array(object.excludeIps.length);
                    for (let i = 0; i < object.excludeIps.length; ++i)
                        message.excludeIps[i] = $String(object.excludeIps[i]);
                }
                if (object.provider != null)
                    if (typeof object.provider !== "string" || object.provider.length)
                        message.provider = $String(object.provider);
                if (object.protocol != null)
                    if (typeof object.protocol !== "string" || object.protocol.length)
                        message.protocol = $String(object.protocol);
                if (object.cooldownMs != null)
                    if ($util.Long)
                        message.cooldownMs = $util.Long.fromValue(object.cooldownMs, true);
                    else if (typeof object.cooldownMs === "string")
                        message.cooldownMs = $parseInt(object.cooldownMs, 10);
                    else if (typeof object.cooldownMs === "number")
                        message.cooldownMs = object.cooldownMs;
                    else if (typeof object.cooldownMs === "object")
                        message.cooldownMs = new $util.LongBits(object.cooldownMs.low >>> 0, object.cooldownMs.high >>> 0).toNumber(true);
                if (object.bindingTimeoutMs != null)
                    if ($util.Long)
                        message.bindingTimeoutMs = $util.Long.fromValue(object.bindingTimeoutMs, true);
                    else if (typeof object.bindingTimeoutMs === "string")
                        message.bindingTimeoutMs = $parseInt(object.bindingTimeoutMs, 10);
                    else if (typeof object.bindingTimeoutMs === "number")
                        message.bindingTimeoutMs = object.bindingTimeoutMs;
                    else if (typeof object.bindingTimeoutMs === "object")
                        message.bindingTimeoutMs = new $util.LongBits(object.bindingTimeoutMs.low >>> 0, object.bindingTimeoutMs.high >>> 0).toNumber(true);
                return message;
            };

            SubnetSpec.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.excludeIps = [];
                if (options.defaults) {
                    object.cidrBlock = "";
                    object.gateway = "";
                    object.provider = "";
                    object.protocol = "";
                }
                if (message.cidrBlock != null && $Object.hasOwnProperty.call(message, "cidrBlock"))
                    object.cidrBlock = message.cidrBlock;
                if (message.gateway != null && $Object.hasOwnProperty.call(message, "gateway"))
                    object.gateway = message.gateway;
                if (message.excludeIps && message.excludeIps.length) {
                    object.excludeIps = $Array(message.excludeIps.length);
                    for (let j = 0; j < message.excludeIps.length; ++j)
                        object.excludeIps[j] = message.excludeIps[j];
                }
                if (message.provider != null && $Object.hasOwnProperty.call(message, "provider"))
                    object.provider = message.provider;
                if (message.protocol != null && $Object.hasOwnProperty.call(message, "protocol"))
                    object.protocol = message.protocol;
                if (message.cooldownMs != null && $Object.hasOwnProperty.call(message, "cooldownMs"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.cooldownMs = typeof message.cooldownMs === "number" ? $BigInt(message.cooldownMs) : $util.Long.fromBits(message.cooldownMs.low >>> 0, message.cooldownMs.high >>> 0, true).toBigInt();
                    else if (typeof message.cooldownMs === "number")
                        object.cooldownMs = options.longs === $String ? $String(message.cooldownMs) : message.cooldownMs;
                    else
                        object.cooldownMs = options.longs === $String ? $util.Long.prototype.toString.call(message.cooldownMs) : options.longs === $Number ? new $util.LongBits(message.cooldownMs.low >>> 0, message.cooldownMs.high >>> 0).toNumber(true) : message.cooldownMs;
                if (message.bindingTimeoutMs != null && $Object.hasOwnProperty.call(message, "bindingTimeoutMs"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.bindingTimeoutMs = typeof message.bindingTimeoutMs === "number" ? $BigInt(message.bindingTimeoutMs) : $util.Long.fromBits(message.bindingTimeoutMs.low >>> 0, message.bindingTimeoutMs.high >>> 0, true).toBigInt();
                    else if (typeof message.bindingTimeoutMs === "number")
                        object.bindingTimeoutMs = options.longs === $String ? $String(message.bindingTimeoutMs) : message.bindingTimeoutMs;
                    else
                        object.bindingTimeoutMs = options.longs === $String ? $util.Long.prototype.toString.call(message.bindingTimeoutMs) : options.longs === $Number ? new $util.LongBits(message.bindingTimeoutMs.low >>> 0, message.bindingTimeoutMs.high >>> 0).toNumber(true) : message.bindingTimeoutMs;
                return object;
            };

            SubnetSpec.prototype.toJSON = function() {
                return SubnetSpec.toObject(this, $protobuf.util.toJSONOptions);
            };

            return SubnetSpec;
        })();

        v1.SourceObject = (function() {

            const SourceObject = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            SourceObject.prototype.uid = "";
            SourceObject.prototype.generation = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            SourceObject.create = function(properties) {
                return new SourceObject(properties);
            };

            SourceObject.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(10).string(message.uid);
                if (message.generation != null && $Object.hasOwnProperty.call(message, "generation") && (typeof message.generation === "object" ? message.generation.low || message.generation.high : message.generation !== 0))
                    writer.uint32(16).uint64(message.generation);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            SourceObject.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.SourceObject();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.generation = value;
                            else
                                delete message.generation;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            SourceObject.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.SourceObject)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.SourceObject: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.SourceObject();
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.generation != null)
                    if (typeof object.generation === "object" ? object.generation.low || object.generation.high : $Number(object.generation) !== 0)
                        if ($util.Long)
                            message.generation = $util.Long.fromValue(object.generation, true);
                        else if (typeof object.generation === "string")
                            message.generation = $parseInt(object.generation, 10);
                        else if (typeof object.generation === "number")
                            message.generation = object.generation;
                        else if (typeof object.generation === "object")
                            message.generation = new $util.LongBits(object.generation.low >>> 0, object.generation.high >>> 0).toNumber(true);
                return message;
            };

            SourceObject.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.uid = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.generation = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.generation = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                }
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.generation != null && $Object.hasOwnProperty.call(message, "generation"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.generation = typeof message.generation === "number" ? $BigInt(message.generation) : $util.Long.fromBits(message.generation.low >>> 0, message.generation.high >>> 0, true).toBigInt();
                    else if (typeof message.generation === "number")
                        object.generation = options.longs === $String ? $String(message.generation) : message.generation;
                    else
                        object.generation = options.longs === $String ? $util.Long.prototype.toString.call(message.generation) : options.longs === $Number ? new $util.LongBits(message.generation.low >>> 0, message.generation.high >>> 0).toNumber(true) : message.generation;
                return object;
            };

            SourceObject.prototype.toJSON = function() {
                return SourceObject.toObject(this, $protobuf.util.toJSONOptions);
            };

            return SourceObject;
        })();

        v1.Usage = (function() {

            const Usage = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Usage.prototype.family = 0;
            Usage.prototype.total = "";
            Usage.prototype.inUse = "";
            Usage.prototype.available = "";
            Usage.prototype.inUseRange = "";
            Usage.prototype.availableRange = "";
            Usage.prototype.resting = "";
            Usage.prototype.reserved = "";
            Usage.prototype.reservedRange = "";

            Usage.create = function(properties) {
                return new Usage(properties);
            };

            Usage.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.family != null && $Object.hasOwnProperty.call(message, "family") && message.family !== 0)
                    writer.uint32(8).uint32(message.family);
                if (message.total != null && $Object.hasOwnProperty.call(message, "total") && message.total !== "")
                    writer.uint32(18).string(message.total);
                if (message.inUse != null && $Object.hasOwnProperty.call(message, "inUse") && message.inUse !== "")
                    writer.uint32(26).string(message.inUse);
                if (message.available != null && $Object.hasOwnProperty.call(message, "available") && message.available !== "")
                    writer.uint32(34).string(message.available);
                if (message.inUseRange != null && $Object.hasOwnProperty.call(message, "inUseRange") && message.inUseRange !== "")
                    writer.uint32(42).string(message.inUseRange);
                if (message.availableRange != null && $Object.hasOwnProperty.call(message, "availableRange") && message.availableRange !== "")
                    writer.uint32(50).string(message.availableRange);
                if (message.resting != null && $Object.hasOwnProperty.call(message, "resting") && message.resting !== "")
                    writer.uint32(58).string(message.resting);
                if (message.reserved != null && $Object.hasOwnProperty.call(message, "reserved") && message.reserved !== "")
                    writer.uint32(66).string(message.reserved);
                if (message.reservedRange != null && $Object.hasOwnProperty.call(message, "reservedRange") && message.reservedRange !== "")
                    writer.uint32(74).string(message.reservedRange);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Usage.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Usage();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.family = value;
                            else
                                delete message.family;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.total = value;
                            else
                                delete message.total;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.inUse = value;
                            else
                                delete message.inUse;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.available = value;
                            else
                                delete message.available;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.inUseRange = value;
                            else
                                delete message.inUseRange;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.availableRange = value;
                            else
                                delete message.availableRange;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.resting = value;
                            else
                                delete message.resting;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reserved = value;
                            else
                                delete message.reserved;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedRange = value;
                            else
                                delete message.reservedRange;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Usage.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Usage)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Usage: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Usage();
                if (object.family != null)
                    if ($Number(object.family) !== 0)
                        message.family = object.family >>> 0;
                if (object.total != null)
                    if (typeof object.total !== "string" || object.total.length)
                        message.total = $String(object.total);
                if (object.inUse != null)
                    if (typeof object.inUse !== "string" || object.inUse.length)
                        message.inUse = $String(object.inUse);
                if (object.available != null)
                    if (typeof object.available !== "string" || object.available.length)
                        message.available = $String(object.available);
                if (object.inUseRange != null)
                    if (typeof object.inUseRange !== "string" || object.inUseRange.length)
                        message.inUseRange = $String(object.inUseRange);
                if (object.availableRange != null)
                    if (typeof object.availableRange !== "string" || object.availableRange.length)
                        message.availableRange = $String(object.availableRange);
                if (object.resting != null)
                    if (typeof object.resting !== "string" || object.resting.length)
                        message.resting = $String(object.resting);
                if (object.reserved != null)
                    if (typeof object.reserved !== "string" || object.reserved.length)
                        message.reserved = $String(object.reserved);
                if (object.reservedRange != null)
                    if (typeof object.reservedRange !== "string" || object.reservedRange.length)
                        message.reservedRange = $String(object.reservedRange);
                return message;
            };

            Usage.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.family = 0;
                    object.total = "";
                    object.inUse = "";
                    object.available = "";
                    object.inUseRange = "";
                    object.availableRange = "";
                    object.resting = "";
                    object.reserved = "";
                    object.reservedRange = "";
                }
                if (message.family != null && $Object.hasOwnProperty.call(message, "family"))
                    object.family = message.family;
                if (message.total != null && $Object.hasOwnProperty.call(message, "total"))
                    object.total = message.total;
                if (message.inUse != null && $Object.hasOwnProperty.call(message, "inUse"))
                    object.inUse = message.inUse;
                if (message.available != null && $Object.hasOwnProperty.call(message, "available"))
                    object.available = message.available;
                if (message.inUseRange != null && $Object.hasOwnProperty.call(message, "inUseRange"))
                    object.inUseRange = message.inUseRange;
                if (message.availableRange != null && $Object.hasOwnProperty.call(message, "availableRange"))
                    object.availableRange = message.availableRange;
                if (message.resting != null && $Object.hasOwnProperty.call(message, "resting"))
                    object.resting = message.resting;
                if (message.reserved != null && $Object.hasOwnProperty.call(message, "reserved"))
                    object.reserved = message.reserved;
                if (message.reservedRange != null && $Object.hasOwnProperty.call(message, "reservedRange"))
                    object.reservedRange = message.reservedRange;
                return object;
            };

            Usage.prototype.toJSON = function() {
                return Usage.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Usage;
        })();

        v1.Subnet = (function() {

            const Subnet = function (properties) {
                this.usage = [];
                this.fenced = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Subnet.prototype.name = "";
            Subnet.prototype.spec = null;
            Subnet.prototype.source = null;
            Subnet.prototype.usage = $util.emptyArray;
            Subnet.prototype.fenced = $util.emptyArray;

            Subnet.create = function(properties) {
                return new Subnet(properties);
            };

            Subnet.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    $root.ipledger.v1.SubnetSpec.encode(message.spec, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    $root.ipledger.v1.SourceObject.encode(message.source, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.usage != null && message.usage.length)
                    for (let i = 0; i < message.usage.length; ++i)
                        $root.ipledger.v1.Usage.encode(message.usage[i], writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.fenced != null && message.fenced.length)
                    for (let i = 0; i < message.fenced.length; ++i)
                        writer.uint32(42).string(message.fenced[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Subnet.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Subnet();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.spec = $root.ipledger.v1.SubnetSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.source = $root.ipledger.v1.SourceObject.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.usage && message.usage.length))
                                message.usage = [];
                            message.usage.push($root.ipledger.v1.Usage.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.fenced && message.fenced.length))
                                message.fenced = [];
                            message.fenced.push(reader.stringVerify());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Subnet.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Subnet)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Subnet: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Subnet();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.spec != null) {
                    if (!$util.isObject(object.spec))
                        throw $TypeError(".ipledger.v1.Subnet.spec: object expected");
                    message.spec = $root.ipledger.v1.SubnetSpec.fromObject(object.spec, _depth + 1);
                }
                if (object.source != null) {
                    if (!$util.isObject(object.source))
                        throw $TypeError(".ipledger.v1.Subnet.source: object expected");
                    message.source = $root.ipledger.v1.SourceObject.fromObject(object.source, _depth + 1);
                }
                if (object.usage) {
                    if (!$Array.isArray(object.usage))
                        throw $TypeError(".ipledger.v1.Subnet.usage: array expected");
                    message.usage = $Array(object.usage.length);
                    for (let i = 0; i < object.usage.length; ++i) {
                        if (!$util.isObject(object.usage[i]))
                            throw $TypeError(".ipledger.v1.Subnet.usage: object expected");
                        message.usage[i] = $root.ipledger.v1.Usage.fromObject(object.usage[i], _depth + 1);
                    }
                }
                if (object.fenced) {
                    if (!$Array.isArray(object.fenced))
                        throw $TypeError(".ipledger.v1.Subnet.fenced: array expected");
                    message.fenced = $Array(object.fenced.length);
                    for (let i = 0; i < object.fenced.length; ++i)
                        message.fenced[i] = $String(object.fenced[i]);
                }
                return message;
            };

            Subnet.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults) {
                    object.usage = [];
                    object.fenced = [];
                }
                if (options.defaults) {
                    object.name = "";
                    object.spec = null;
                    object.source = null;
                }
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    object.spec = $root.ipledger.v1.SubnetSpec.toObject(message.spec, options, _depth + 1);
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    object.source = $root.ipledger.v1.SourceObject.toObject(message.source, options, _depth + 1);
                if (message.usage && message.usage.length) {
                    object.usage = $Array(message.usage.length);
                    for (let j = 0; j < message.usage.length; ++j)
                        object.usage[j] = $root.ipledger.v1.Usage.toObject(message.usage[j], options, _depth + 1);
                }
                if (message.fenced && message.fenced.length) {
                    object.fenced = $Array(message.fenced.length);
                    for (let j = 0; j < message.fenced.length; ++j)
                        object.fenced[j] = message.fenced[j];
                }
                return object;
            };

            Subnet.prototype.toJSON = function() {
                return Subnet.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Subnet;
        })();

        v1.ApplySubnetRequest = (function() {

            const ApplySubnetRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ApplySubnetRequest.prototype.name = "";
            ApplySubnetRequest.prototype.spec = null;
            ApplySubnetRequest.prototype.source = null;

            ApplySubnetRequest.create = function(properties) {
                return new ApplySubnetRequest(properties);
            };

            ApplySubnetRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    $root.ipledger.v1.SubnetSpec.encode(message.spec, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    $root.ipledger.v1.SourceObject.encode(message.source, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ApplySubnetRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ApplySubnetRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.spec = $root.ipledger.v1.SubnetSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.source = $root.ipledger.v1.SourceObject.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ApplySubnetRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ApplySubnetRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ApplySubnetRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ApplySubnetRequest();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.spec != null) {
                    if (!$util.isObject(object.spec))
                        throw $TypeError(".ipledger.v1.ApplySubnetRequest.spec: object expected");
                    message.spec = $root.ipledger.v1.SubnetSpec.fromObject(object.spec, _depth + 1);
                }
                if (object.source != null) {
                    if (!$util.isObject(object.source))
                        throw $TypeError(".ipledger.v1.ApplySubnetRequest.source: object expected");
                    message.source = $root.ipledger.v1.SourceObject.fromObject(object.source, _depth + 1);
                }
                return message;
            };

            ApplySubnetRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.name = "";
                    object.spec = null;
                    object.source = null;
                }
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    object.spec = $root.ipledger.v1.SubnetSpec.toObject(message.spec, options, _depth + 1);
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    object.source = $root.ipledger.v1.SourceObject.toObject(message.source, options, _depth + 1);
                return object;
            };

            ApplySubnetRequest.prototype.toJSON = function() {
                return ApplySubnetRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ApplySubnetRequest;
        })();

        v1.ApplySubnetReply = (function() {

            const ApplySubnetReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ApplySubnetReply.prototype.position = null;
            ApplySubnetReply.prototype.subnet = null;

            ApplySubnetReply.create = function(properties) {
                return new ApplySubnetReply(properties);
            };

            ApplySubnetReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    $root.ipledger.v1.Subnet.encode(message.subnet, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ApplySubnetReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ApplySubnetReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.subnet = $root.ipledger.v1.Subnet.decode(reader, reader.size(), $undefined, _depth + 1, message.subnet);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ApplySubnetReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ApplySubnetReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ApplySubnetReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ApplySubnetReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ApplySubnetReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.subnet != null) {
                    if (!$util.isObject(object.subnet))
                        throw $TypeError(".ipledger.v1.ApplySubnetReply.subnet: object expected");
                    message.subnet = $root.ipledger.v1.Subnet.fromObject(object.subnet, _depth + 1);
                }
                return message;
            };

            ApplySubnetReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.subnet = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = $root.ipledger.v1.Subnet.toObject(message.subnet, options, _depth + 1);
                return object;
            };

            ApplySubnetReply.prototype.toJSON = function() {
                return ApplySubnetReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ApplySubnetReply;
        })();

        v1.DeleteSubnetRequest = (function() {

            const DeleteSubnetRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DeleteSubnetRequest.prototype.name = "";

            DeleteSubnetRequest.create = function(properties) {
                return new DeleteSubnetRequest(properties);
            };

            DeleteSubnetRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DeleteSubnetRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.DeleteSubnetRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            DeleteSubnetRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.DeleteSubnetRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.DeleteSubnetRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.DeleteSubnetRequest();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                return message;
            };

            DeleteSubnetRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.name = "";
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                return object;
            };

            DeleteSubnetRequest.prototype.toJSON = function() {
                return DeleteSubnetRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return DeleteSubnetRequest;
        })();

        v1.DeleteSubnetReply = (function() {

            const DeleteSubnetReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DeleteSubnetReply.prototype.position = null;

            DeleteSubnetReply.create = function(properties) {
                return new DeleteSubnetReply(properties);
            };

            DeleteSubnetReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DeleteSubnetReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.DeleteSubnetReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            DeleteSubnetReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.DeleteSubnetReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.DeleteSubnetReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.DeleteSubnetReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.DeleteSubnetReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                return message;
            };

            DeleteSubnetReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                return object;
            };

            DeleteSubnetReply.prototype.toJSON = function() {
                return DeleteSubnetReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return DeleteSubnetReply;
        })();

        v1.GetSubnetRequest = (function() {

            const GetSubnetRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetSubnetRequest.prototype.name = "";
            GetSubnetRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            GetSubnetRequest.prototype.consistency = 0;

            GetSubnetRequest.create = function(properties) {
                return new GetSubnetRequest(properties);
            };

            GetSubnetRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(16).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(24).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetSubnetRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.GetSubnetRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            GetSubnetRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.GetSubnetRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.GetSubnetRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.GetSubnetRequest();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            GetSubnetRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.name = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            GetSubnetRequest.prototype.toJSON = function() {
                return GetSubnetRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return GetSubnetRequest;
        })();

        v1.GetSubnetReply = (function() {

            const GetSubnetReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetSubnetReply.prototype.position = null;
            GetSubnetReply.prototype.subnet = null;

            GetSubnetReply.create = function(properties) {
                return new GetSubnetReply(properties);
            };

            GetSubnetReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    $root.ipledger.v1.Subnet.encode(message.subnet, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetSubnetReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.GetSubnetReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.subnet = $root.ipledger.v1.Subnet.decode(reader, reader.size(), $undefined, _depth + 1, message.subnet);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            GetSubnetReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.GetSubnetReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.GetSubnetReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.GetSubnetReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.GetSubnetReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.subnet != null) {
                    if (!$util.isObject(object.subnet))
                        throw $TypeError(".ipledger.v1.GetSubnetReply.subnet: object expected");
                    message.subnet = $root.ipledger.v1.Subnet.fromObject(object.subnet, _depth + 1);
                }
                return message;
            };

            GetSubnetReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.subnet = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = $root.ipledger.v1.Subnet.toObject(message.subnet, options, _depth + 1);
                return object;
            };

            GetSubnetReply.prototype.toJSON = function() {
                return GetSubnetReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return GetSubnetReply;
        })();

        v1.ListSubnetsRequest = (function() {

            const ListSubnetsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListSubnetsRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ListSubnetsRequest.prototype.consistency = 0;

            ListSubnetsRequest.create = function(properties) {
                return new ListSubnetsRequest(properties);
            };

            ListSubnetsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(8).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(16).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListSubnetsRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListSubnetsRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListSubnetsRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListSubnetsRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListSubnetsRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListSubnetsRequest();
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            ListSubnetsRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            ListSubnetsRequest.prototype.toJSON = function() {
                return ListSubnetsRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListSubnetsRequest;
        })();

        v1.ListSubnetsReply = (function() {

            const ListSubnetsReply = function (properties) {
                this.subnets = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListSubnetsReply.prototype.position = null;
            ListSubnetsReply.prototype.subnets = $util.emptyArray;

            ListSubnetsReply.create = function(properties) {
                return new ListSubnetsReply(properties);
            };

            ListSubnetsReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.subnets != null && message.subnets.length)
                    for (let i = 0; i < message.subnets.length; ++i)
                        $root.ipledger.v1.Subnet.encode(message.subnets[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListSubnetsReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListSubnetsReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.subnets && message.subnets.length))
                                message.subnets = [];
                            message.subnets.push($root.ipledger.v1.Subnet.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListSubnetsReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListSubnetsReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListSubnetsReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListSubnetsReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ListSubnetsReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.subnets) {
                    if (!$Array.isArray(object.subnets))
                        throw $TypeError(".ipledger.v1.ListSubnetsReply.subnets: array expected");
                    message.subnets = $Array(object.subnets.length);
                    for (let i = 0; i < object.subnets.length; ++i) {
                        if (!$util.isObject(object.subnets[i]))
                            throw $TypeError(".ipledger.v1.ListSubnetsReply.subnets: object expected");
                        message.subnets[i] = $root.ipledger.v1.Subnet.fromObject(object.subnets[i], _depth + 1);
                    }
                }
                return message;
            };

            ListSubnetsReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.subnets = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.subnets && message.subnets.length) {
                    object.subnets = $Array(message.subnets.length);
                    for (let j = 0; j < message.subnets.length; ++j)
                        object.subnets[j] = $root.ipledger.v1.Subnet.toObject(message.subnets[j], options, _depth + 1);
                }
                return object;
            };

            ListSubnetsReply.prototype.toJSON = function() {
                return ListSubnetsReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListSubnetsReply;
        })();

        v1.PoolSpec = (function() {

            const PoolSpec = function (properties) {
                this.ips = [];
                this.namespaces = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            PoolSpec.prototype.subnet = "";
            PoolSpec.prototype.ips = $util.emptyArray;
            PoolSpec.prototype.namespaces = $util.emptyArray;

            PoolSpec.create = function(properties) {
                return new PoolSpec(properties);
            };

            PoolSpec.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(10).string(message.subnet);
                if (message.ips != null && message.ips.length)
                    for (let i = 0; i < message.ips.length; ++i)
                        writer.uint32(18).string(message.ips[i]);
                if (message.namespaces != null && message.namespaces.length)
                    for (let i = 0; i < message.namespaces.length; ++i)
                        writer.uint32(26).string(message.namespaces[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            PoolSpec.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.PoolSpec();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.ips && message.ips.length))
                                message.ips = [];
                            message.ips.push(reader.stringVerify());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.namespaces && message.namespaces.length))
                                message.namespaces = [];
                            message.namespaces.push(reader.stringVerify());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            PoolSpec.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.PoolSpec)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.PoolSpec: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.PoolSpec();
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.ips) {
                    if (!$Array.isArray(object.ips))
                        throw $TypeError(".ipledger.v1.PoolSpec.ips: array expected");
                    message.ips = $Array(object.ips.length);
                    for (let i = 0; i < object.ips.length; ++i)
                        message.ips[i] = $String(object.ips[i]);
                }
                if (object.namespaces) {
                    if (!$Array.isArray(object.namespaces))
                        throw $TypeError(".ipledger.v1.PoolSpec.namespaces: array expected");
                    message.namespaces = $Array(object.namespaces.length);
                    for (let i = 0; i < object.namespaces.length; ++i)
                        message.namespaces[i] = $String(object.namespaces[i]);
                }
                return message;
            };

            PoolSpec.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults) {
                    object.ips = [];
                    object.namespaces = [];
                }
                if (options.defaults)
                    object.subnet = "";
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.ips && message.ips.length) {
                    object.ips = $Array(message.ips.length);
                    for (let j = 0; j < message.ips.length; ++j)
                        object.ips[j] = message.ips[j];
                }
                if (message.namespaces && message.namespaces.length) {
                    object.namespaces = $Array(message.namespaces.length);
                    for (let j = 0; j < message.namespaces.length; ++j)
                        object.namespaces[j] = message.namespaces[j];
                }
                return object;
            };

            PoolSpec.prototype.toJSON = function() {
                return PoolSpec.toObject(this, $protobuf.util.toJSONOptions);
            };

            return PoolSpec;
        })();

        v1.Pool = (function() {

            const Pool = function (properties) {
                this.usage = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Pool.prototype.name = "";
            Pool.prototype.spec = null;
            Pool.prototype.source = null;
            Pool.prototype.usage = $util.emptyArray;

            Pool.create = function(properties) {
                return new Pool(properties);
            };

            Pool.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    $root.ipledger.v1.PoolSpec.encode(message.spec, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    $root.ipledger.v1.SourceObject.encode(message.source, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.usage != null && message.usage.length)
                    for (let i = 0; i < message.usage.length; ++i)
                        $root.ipledger.v1.Usage.encode(message.usage[i], writer.uint32(34).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Pool.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Pool();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.spec = $root.ipledger.v1.PoolSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.source = $root.ipledger.v1.SourceObject.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.usage && message.usage.length))
                                message.usage = [];
                            message.usage.push($root.ipledger.v1.Usage.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Pool.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Pool)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Pool: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Pool();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.spec != null) {
                    if (!$util.isObject(object.spec))
                        throw $TypeError(".ipledger.v1.Pool.spec: object expected");
                    message.spec = $root.ipledger.v1.PoolSpec.fromObject(object.spec, _depth + 1);
                }
                if (object.source != null) {
                    if (!$util.isObject(object.source))
                        throw $TypeError(".ipledger.v1.Pool.source: object expected");
                    message.source = $root.ipledger.v1.SourceObject.fromObject(object.source, _depth + 1);
                }
                if (object.usage) {
                    if (!$Array.isArray(object.usage))
                        throw $TypeError(".ipledger.v1.Pool.usage: array expected");
                    message.usage = $Array(object.usage.length);
                    for (let i = 0; i < object.usage.length; ++i) {
                        if (!$util.isObject(object.usage[i]))
                            throw $TypeError(".ipledger.v1.Pool.usage: object expected");
                        message.usage[i] = $root.ipledger.v1.Usage.fromObject(object.usage[i], _depth + 1);
                    }
                }
                return message;
            };

            Pool.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.usage = [];
                if (options.defaults) {
                    object.name = "";
                    object.spec = null;
                    object.source = null;
                }
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    object.spec = $root.ipledger.v1.PoolSpec.toObject(message.spec, options, _depth + 1);
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    object.source = $root.ipledger.v1.SourceObject.toObject(message.source, options, _depth + 1);
                if (message.usage && message.usage.length) {
                    object.usage = $Array(message.usage.length);
                    for (let j = 0; j < message.usage.length; ++j)
                        object.usage[j] = $root.ipledger.v1.Usage.toObject(message.usage[j], options, _depth + 1);
                }
                return object;
            };

            Pool.prototype.toJSON = function() {
                return Pool.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Pool;
        })();

        v1.ApplyPoolRequest = (function() {

            const ApplyPoolRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ApplyPoolRequest.prototype.name = "";
            ApplyPoolRequest.prototype.spec = null;
            ApplyPoolRequest.prototype.source = null;

            ApplyPoolRequest.create = function(properties) {
                return new ApplyPoolRequest(properties);
            };

            ApplyPoolRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    $root.ipledger.v1.PoolSpec.encode(message.spec, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    $root.ipledger.v1.SourceObject.encode(message.source, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ApplyPoolRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ApplyPoolRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.spec = $root.ipledger.v1.PoolSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.source = $root.ipledger.v1.SourceObject.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ApplyPoolRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ApplyPoolRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ApplyPoolRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ApplyPoolRequest();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.spec != null) {
                    if (!$util.isObject(object.spec))
                        throw $TypeError(".ipledger.v1.ApplyPoolRequest.spec: object expected");
                    message.spec = $root.ipledger.v1.PoolSpec.fromObject(object.spec, _depth + 1);
                }
                if (object.source != null) {
                    if (!$util.isObject(object.source))
                        throw $TypeError(".ipledger.v1.ApplyPoolRequest.source: object expected");
                    message.source = $root.ipledger.v1.SourceObject.fromObject(object.source, _depth + 1);
                }
                return message;
            };

            ApplyPoolRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.name = "";
                    object.spec = null;
                    object.source = null;
                }
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    object.spec = $root.ipledger.v1.PoolSpec.toObject(message.spec, options, _depth + 1);
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    object.source = $root.ipledger.v1.SourceObject.toObject(message.source, options, _depth + 1);
                return object;
            };

            ApplyPoolRequest.prototype.toJSON = function() {
                return ApplyPoolRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ApplyPoolRequest;
        })();

        v1.ApplyPoolReply = (function() {

            const ApplyPoolReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ApplyPoolReply.prototype.position = null;
            ApplyPoolReply.prototype.pool = null;

            ApplyPoolReply.create = function(properties) {
                return new ApplyPoolReply(properties);
            };

            ApplyPoolReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    $root.ipledger.v1.Pool.encode(message.pool, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ApplyPoolReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ApplyPoolReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.pool = $root.ipledger.v1.Pool.decode(reader, reader.size(), $undefined, _depth + 1, message.pool);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ApplyPoolReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ApplyPoolReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ApplyPoolReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ApplyPoolReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ApplyPoolReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.pool != null) {
                    if (!$util.isObject(object.pool))
                        throw $TypeError(".ipledger.v1.ApplyPoolReply.pool: object expected");
                    message.pool = $root.ipledger.v1.Pool.fromObject(object.pool, _depth + 1);
                }
                return message;
            };

            ApplyPoolReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.pool = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    object.pool = $root.ipledger.v1.Pool.toObject(message.pool, options, _depth + 1);
                return object;
            };

            ApplyPoolReply.prototype.toJSON = function() {
                return ApplyPoolReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ApplyPoolReply;
        })();

        v1.DeletePoolRequest = (function() {

            const DeletePoolRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DeletePoolRequest.prototype.name = "";

            DeletePoolRequest.create = function(properties) {
                return new DeletePoolRequest(properties);
            };

            DeletePoolRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DeletePoolRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.DeletePoolRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            DeletePoolRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.DeletePoolRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.DeletePoolRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.DeletePoolRequest();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                return message;
            };

            DeletePoolRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.name = "";
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                return object;
            };

            DeletePoolRequest.prototype.toJSON = function() {
                return DeletePoolRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return DeletePoolRequest;
        })();

        v1.DeletePoolReply = (function() {

            const DeletePoolReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            DeletePoolReply.prototype.position = null;

            DeletePoolReply.create = function(properties) {
                return new DeletePoolReply(properties);
            };

            DeletePoolReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            DeletePoolReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.DeletePoolReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            DeletePoolReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.DeletePoolReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.DeletePoolReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.DeletePoolReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.DeletePoolReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                return message;
            };

            DeletePoolReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                return object;
            };

            DeletePoolReply.prototype.toJSON = function() {
                return DeletePoolReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return DeletePoolReply;
        })();

        v1.GetPoolRequest = (function() {

            const GetPoolRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetPoolRequest.prototype.name = "";
            GetPoolRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            GetPoolRequest.prototype.consistency = 0;

            GetPoolRequest.create = function(properties) {
                return new GetPoolRequest(properties);
            };

            GetPoolRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.name != null && $Object.hasOwnProperty.call(message, "name") && message.name !== "")
                    writer.uint32(10).string(message.name);
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(16).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(24).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetPoolRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.GetPoolRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.name = value;
                            else
                                delete message.name;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            GetPoolRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.GetPoolRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.GetPoolRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.GetPoolRequest();
                if (object.name != null)
                    if (typeof object.name !== "string" || object.name.length)
                        message.name = $String(object.name);
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            GetPoolRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.name = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.name != null && $Object.hasOwnProperty.call(message, "name"))
                    object.name = message.name;
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            GetPoolRequest.prototype.toJSON = function() {
                return GetPoolRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return GetPoolRequest;
        })();

        v1.GetPoolReply = (function() {

            const GetPoolReply = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            GetPoolReply.prototype.position = null;
            GetPoolReply.prototype.pool = null;

            GetPoolReply.create = function(properties) {
                return new GetPoolReply(properties);
            };

            GetPoolReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    $root.ipledger.v1.Pool.encode(message.pool, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            GetPoolReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.GetPoolReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.pool = $root.ipledger.v1.Pool.decode(reader, reader.size(), $undefined, _depth + 1, message.pool);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            GetPoolReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.GetPoolReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.GetPoolReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.GetPoolReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.GetPoolReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.pool != null) {
                    if (!$util.isObject(object.pool))
                        throw $TypeError(".ipledger.v1.GetPoolReply.pool: object expected");
                    message.pool = $root.ipledger.v1.Pool.fromObject(object.pool, _depth + 1);
                }
                return message;
            };

            GetPoolReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.position = null;
                    object.pool = null;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    object.pool = $root.ipledger.v1.Pool.toObject(message.pool, options, _depth + 1);
                return object;
            };

            GetPoolReply.prototype.toJSON = function() {
                return GetPoolReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return GetPoolReply;
        })();

        v1.ListPoolsRequest = (function() {

            const ListPoolsRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListPoolsRequest.prototype.minSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ListPoolsRequest.prototype.consistency = 0;

            ListPoolsRequest.create = function(properties) {
                return new ListPoolsRequest(properties);
            };

            ListPoolsRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq") && (typeof message.minSeq === "object" ? message.minSeq.low || message.minSeq.high : message.minSeq !== 0))
                    writer.uint32(8).uint64(message.minSeq);
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency") && message.consistency !== 0)
                    writer.uint32(16).int32(message.consistency);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListPoolsRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListPoolsRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.minSeq = value;
                            else
                                delete message.minSeq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.consistency = value;
                            else
                                delete message.consistency;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListPoolsRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListPoolsRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListPoolsRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListPoolsRequest();
                if (object.minSeq != null)
                    if (typeof object.minSeq === "object" ? object.minSeq.low || object.minSeq.high : $Number(object.minSeq) !== 0)
                        if ($util.Long)
                            message.minSeq = $util.Long.fromValue(object.minSeq, true);
                        else if (typeof object.minSeq === "string")
                            message.minSeq = $parseInt(object.minSeq, 10);
                        else if (typeof object.minSeq === "number")
                            message.minSeq = object.minSeq;
                        else if (typeof object.minSeq === "object")
                            message.minSeq = new $util.LongBits(object.minSeq.low >>> 0, object.minSeq.high >>> 0).toNumber(true);
                if (object.consistency !== 0 && (typeof object.consistency !== "string" || $root.ipledger.v1.Consistency[object.consistency] !== 0))
                    switch (object.consistency) {
                    case "CONSISTENCY_LINEARIZABLE":
                    case 0:
                        message.consistency = 0;
                        break;
                    case "CONSISTENCY_LOCAL":
                    case 1:
                        message.consistency = 1;
                        break;
                    default:
                        if (typeof object.consistency === "number" && (object.consistency | 0) === object.consistency)
                            message.consistency = object.consistency;
                    }
                return message;
            };

            ListPoolsRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.minSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.minSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.consistency = options.enums === $String ? "CONSISTENCY_LINEARIZABLE" : 0;
                }
                if (message.minSeq != null && $Object.hasOwnProperty.call(message, "minSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.minSeq = typeof message.minSeq === "number" ? $BigInt(message.minSeq) : $util.Long.fromBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.minSeq === "number")
                        object.minSeq = options.longs === $String ? $String(message.minSeq) : message.minSeq;
                    else
                        object.minSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.minSeq) : options.longs === $Number ? new $util.LongBits(message.minSeq.low >>> 0, message.minSeq.high >>> 0).toNumber(true) : message.minSeq;
                if (message.consistency != null && $Object.hasOwnProperty.call(message, "consistency"))
                    object.consistency = options.enums === $String ? $root.ipledger.v1.Consistency[message.consistency] === $undefined ? message.consistency : $root.ipledger.v1.Consistency[message.consistency] : message.consistency;
                return object;
            };

            ListPoolsRequest.prototype.toJSON = function() {
                return ListPoolsRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListPoolsRequest;
        })();

        v1.ListPoolsReply = (function() {

            const ListPoolsReply = function (properties) {
                this.pools = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ListPoolsReply.prototype.position = null;
            ListPoolsReply.prototype.pools = $util.emptyArray;

            ListPoolsReply.create = function(properties) {
                return new ListPoolsReply(properties);
            };

            ListPoolsReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.pools != null && message.pools.length)
                    for (let i = 0; i < message.pools.length; ++i)
                        $root.ipledger.v1.Pool.encode(message.pools[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ListPoolsReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ListPoolsReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.pools && message.pools.length))
                                message.pools = [];
                            message.pools.push($root.ipledger.v1.Pool.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ListPoolsReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ListPoolsReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ListPoolsReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ListPoolsReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ListPoolsReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.pools) {
                    if (!$Array.isArray(object.pools))
                        throw $TypeError(".ipledger.v1.ListPoolsReply.pools: array expected");
                    message.pools = $Array(object.pools.length);
                    for (let i = 0; i < object.pools.length; ++i) {
                        if (!$util.isObject(object.pools[i]))
                            throw $TypeError(".ipledger.v1.ListPoolsReply.pools: object expected");
                        message.pools[i] = $root.ipledger.v1.Pool.fromObject(object.pools[i], _depth + 1);
                    }
                }
                return message;
            };

            ListPoolsReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.pools = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.pools && message.pools.length) {
                    object.pools = $Array(message.pools.length);
                    for (let j = 0; j < message.pools.length; ++j)
                        object.pools[j] = $root.ipledger.v1.Pool.toObject(message.pools[j], options, _depth + 1);
                }
                return object;
            };

            ListPoolsReply.prototype.toJSON = function() {
                return ListPoolsReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ListPoolsReply;
        })();

        v1.Event = (function() {

            const Event = function (properties) {
                this.before = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            Event.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            Event.prototype.id = "";
            Event.prototype.command = "";
            Event.prototype.part = 0;
            Event.prototype.parts = 0;
            Event.prototype.type = "";
            Event.prototype.subnet = "";
            Event.prototype.at = "";
            Event.prototype.actor = "";
            Event.prototype.before = $util.emptyArray;
            Event.prototype.prev = "";
            Event.prototype.hash = "";
            Event.prototype.stored = "";
            Event.prototype.ledgerCreated = null;
            Event.prototype.subnetConfigured = null;
            Event.prototype.subnetRetired = null;
            Event.prototype.addressAllocated = null;
            Event.prototype.allocationRefused = null;
            Event.prototype.addressBound = null;
            Event.prototype.addressUnbound = null;
            Event.prototype.addressTransferred = null;
            Event.prototype.addressReleased = null;
            Event.prototype.poolConfigured = null;
            Event.prototype.poolRetired = null;
            Event.prototype.addressReserved = null;
            Event.prototype.reservationCancelled = null;
            Event.prototype.addressQuarantined = null;
            Event.prototype.quarantineLifted = null;
            Event.prototype.segmentSealed = null;
            Event.prototype.ledgerRestored = null;
            Event.prototype.keyRotated = null;

            let $oneOfFields;

            $Object.defineProperty(Event.prototype, "data", {
                get: $util.oneOfGetter($oneOfFields = ["ledgerCreated", "subnetConfigured", "subnetRetired", "addressAllocated", "allocationRefused", "addressBound", "addressUnbound", "addressTransferred", "addressReleased", "poolConfigured", "poolRetired", "addressReserved", "reservationCancelled", "addressQuarantined", "quarantineLifted", "segmentSealed", "ledgerRestored", "keyRotated"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            Event.create = function(properties) {
                return new Event(properties);
            };

            Event.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(8).uint64(message.seq);
                if (message.id != null && $Object.hasOwnProperty.call(message, "id") && message.id !== "")
                    writer.uint32(18).string(message.id);
                if (message.command != null && $Object.hasOwnProperty.call(message, "command") && message.command !== "")
                    writer.uint32(26).string(message.command);
                if (message.part != null && $Object.hasOwnProperty.call(message, "part") && message.part !== 0)
                    writer.uint32(32).uint32(message.part);
                if (message.parts != null && $Object.hasOwnProperty.call(message, "parts") && message.parts !== 0)
                    writer.uint32(40).uint32(message.parts);
                if (message.type != null && $Object.hasOwnProperty.call(message, "type") && message.type !== "")
                    writer.uint32(50).string(message.type);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(58).string(message.subnet);
                if (message.at != null && $Object.hasOwnProperty.call(message, "at") && message.at !== "")
                    writer.uint32(66).string(message.at);
                if (message.actor != null && $Object.hasOwnProperty.call(message, "actor") && message.actor !== "")
                    writer.uint32(74).string(message.actor);
                if (message.before != null && message.before.length)
                    for (let i = 0; i < message.before.length; ++i)
                        $root.ipledger.v1.EventBefore.encode(message.before[i], writer.uint32(82).fork(), _depth + 1).ldelim();
                if (message.prev != null && $Object.hasOwnProperty.call(message, "prev") && message.prev !== "")
                    writer.uint32(90).string(message.prev);
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash") && message.hash !== "")
                    writer.uint32(98).string(message.hash);
                if (message.stored != null && $Object.hasOwnProperty.call(message, "stored") && message.stored !== "")
                    writer.uint32(106).string(message.stored);
                if (message.ledgerCreated != null && $Object.hasOwnProperty.call(message, "ledgerCreated"))
                    $root.ipledger.v1.LedgerCreated.encode(message.ledgerCreated, writer.uint32(162).fork(), _depth + 1).ldelim();
                if (message.subnetConfigured != null && $Object.hasOwnProperty.call(message, "subnetConfigured"))
                    $root.ipledger.v1.SubnetConfigured.encode(message.subnetConfigured, writer.uint32(170).fork(), _depth + 1).ldelim();
                if (message.subnetRetired != null && $Object.hasOwnProperty.call(message, "subnetRetired"))
                    $root.ipledger.v1.SubnetRetired.encode(message.subnetRetired, writer.uint32(178).fork(), _depth + 1).ldelim();
                if (message.addressAllocated != null && $Object.hasOwnProperty.call(message, "addressAllocated"))
                    $root.ipledger.v1.AddressAllocated.encode(message.addressAllocated, writer.uint32(186).fork(), _depth + 1).ldelim();
                if (message.allocationRefused != null && $Object.hasOwnProperty.call(message, "allocationRefused"))
                    $root.ipledger.v1.AllocationRefused.encode(message.allocationRefused, writer.uint32(194).fork(), _depth + 1).ldelim();
                if (message.addressBound != null && $Object.hasOwnProperty.call(message, "addressBound"))
                    $root.ipledger.v1.AddressBound.encode(message.addressBound, writer.uint32(202).fork(), _depth + 1).ldelim();
                if (message.addressUnbound != null && $Object.hasOwnProperty.call(message, "addressUnbound"))
                    $root.ipledger.v1.AddressUnbound.encode(message.addressUnbound, writer.uint32(210).fork(), _depth + 1).ldelim();
                if (message.addressTransferred != null && $Object.hasOwnProperty.call(message, "addressTransferred"))
                    $root.ipledger.v1.AddressTransferred.encode(message.addressTransferred, writer.uint32(218).fork(), _depth + 1).ldelim();
                if (message.addressReleased != null && $Object.hasOwnProperty.call(message, "addressReleased"))
                    $root.ipledger.v1.AddressReleased.encode(message.addressReleased, writer.uint32(226).fork(), _depth + 1).ldelim();
                if (message.poolConfigured != null && $Object.hasOwnProperty.call(message, "poolConfigured"))
                    $root.ipledger.v1.PoolConfigured.encode(message.poolConfigured, writer.uint32(234).fork(), _depth + 1).ldelim();
                if (message.poolRetired != null && $Object.hasOwnProperty.call(message, "poolRetired"))
                    $root.ipledger.v1.PoolRetired.encode(message.poolRetired, writer.uint32(242).fork(), _depth + 1).ldelim();
                if (message.addressReserved != null && $Object.hasOwnProperty.call(message, "addressReserved"))
                    $root.ipledger.v1.AddressReserved.encode(message.addressReserved, writer.uint32(250).fork(), _depth + 1).ldelim();
                if (message.reservationCancelled != null && $Object.hasOwnProperty.call(message, "reservationCancelled"))
                    $root.ipledger.v1.ReservationCancelled.encode(message.reservationCancelled, writer.uint32(258).fork(), _depth + 1).ldelim();
                if (message.addressQuarantined != null && $Object.hasOwnProperty.call(message, "addressQuarantined"))
                    $root.ipledger.v1.AddressQuarantined.encode(message.addressQuarantined, writer.uint32(266).fork(), _depth + 1).ldelim();
                if (message.quarantineLifted != null && $Object.hasOwnProperty.call(message, "quarantineLifted"))
                    $root.ipledger.v1.QuarantineLifted.encode(message.quarantineLifted, writer.uint32(274).fork(), _depth + 1).ldelim();
                if (message.segmentSealed != null && $Object.hasOwnProperty.call(message, "segmentSealed"))
                    $root.ipledger.v1.SegmentSealed.encode(message.segmentSealed, writer.uint32(282).fork(), _depth + 1).ldelim();
                if (message.ledgerRestored != null && $Object.hasOwnProperty.call(message, "ledgerRestored"))
                    $root.ipledger.v1.LedgerRestored.encode(message.ledgerRestored, writer.uint32(290).fork(), _depth + 1).ldelim();
                if (message.keyRotated != null && $Object.hasOwnProperty.call(message, "keyRotated"))
                    $root.ipledger.v1.KeyRotated.encode(message.keyRotated, writer.uint32(298).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            Event.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.Event();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.id = value;
                            else
                                delete message.id;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.command = value;
                            else
                                delete message.command;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.part = value;
                            else
                                delete message.part;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.parts = value;
                            else
                                delete message.parts;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.type = value;
                            else
                                delete message.type;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.at = value;
                            else
                                delete message.at;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.actor = value;
                            else
                                delete message.actor;
                            continue;
                        }
                    case 10: {
                            if (wireType !== 2)
                                break;
                            if (!(message.before && message.before.length))
                                message.before = [];
                            message.before.push($root.ipledger.v1.EventBefore.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.prev = value;
                            else
                                delete message.prev;
                            continue;
                        }
                    case 12: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.hash = value;
                            else
                                delete message.hash;
                            continue;
                        }
                    case 13: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.stored = value;
                            else
                                delete message.stored;
                            continue;
                        }
                    case 20: {
                            if (wireType !== 2)
                                break;
                            message.ledgerCreated = $root.ipledger.v1.LedgerCreated.decode(reader, reader.size(), $undefined, _depth + 1, message.ledgerCreated);
                            message.data = "ledgerCreated";
                            continue;
                        }
                    case 21: {
                            if (wireType !== 2)
                                break;
                            message.subnetConfigured = $root.ipledger.v1.SubnetConfigured.decode(reader, reader.size(), $undefined, _depth + 1, message.subnetConfigured);
                            message.data = "subnetConfigured";
                            continue;
                        }
                    case 22: {
                            if (wireType !== 2)
                                break;
                            message.subnetRetired = $root.ipledger.v1.SubnetRetired.decode(reader, reader.size(), $undefined, _depth + 1, message.subnetRetired);
                            message.data = "subnetRetired";
                            continue;
                        }
                    case 23: {
                            if (wireType !== 2)
                                break;
                            message.addressAllocated = $root.ipledger.v1.AddressAllocated.decode(reader, reader.size(), $undefined, _depth + 1, message.addressAllocated);
                            message.data = "addressAllocated";
                            continue;
                        }
                    case 24: {
                            if (wireType !== 2)
                                break;
                            message.allocationRefused = $root.ipledger.v1.AllocationRefused.decode(reader, reader.size(), $undefined, _depth + 1, message.allocationRefused);
                            message.data = "allocationRefused";
                            continue;
                        }
                    case 25: {
                            if (wireType !== 2)
                                break;
                            message.addressBound = $root.ipledger.v1.AddressBound.decode(reader, reader.size(), $undefined, _depth + 1, message.addressBound);
                            message.data = "addressBound";
                            continue;
                        }
                    case 26: {
                            if (wireType !== 2)
                                break;
                            message.addressUnbound = $root.ipledger.v1.AddressUnbound.decode(reader, reader.size(), $undefined, _depth + 1, message.addressUnbound);
                            message.data = "addressUnbound";
                            continue;
                        }
                    case 27: {
                            if (wireType !== 2)
                                break;
                            message.addressTransferred = $root.ipledger.v1.AddressTransferred.decode(reader, reader.size(), $undefined, _depth + 1, message.addressTransferred);
                            message.data = "addressTransferred";
                            continue;
                        }
                    case 28: {
                            if (wireType !== 2)
                                break;
                            message.addressReleased = $root.ipledger.v1.AddressReleased.decode(reader, reader.size(), $undefined, _depth + 1, message.addressReleased);
                            message.data = "addressReleased";
                            continue;
                        }
                    case 29: {
                            if (wireType !== 2)
                                break;
                            message.poolConfigured = $root.ipledger.v1.PoolConfigured.decode(reader, reader.size(), $undefined, _depth + 1, message.poolConfigured);
                            message.data = "poolConfigured";
                            continue;
                        }
                    case 30: {
                            if (wireType !== 2)
                                break;
                            message.poolRetired = $root.ipledger.v1.PoolRetired.decode(reader, reader.size(), $undefined, _depth + 1, message.poolRetired);
                            message.data = "poolRetired";
                            continue;
                        }
                    case 31: {
                            if (wireType !== 2)
                                break;
                            message.addressReserved = $root.ipledger.v1.AddressReserved.decode(reader, reader.size(), $undefined, _depth + 1, message.addressReserved);
                            message.data = "addressReserved";
                            continue;
                        }
                    case 32: {
                            if (wireType !== 2)
                                break;
                            message.reservationCancelled = $root.ipledger.v1.ReservationCancelled.decode(reader, reader.size(), $undefined, _depth + 1, message.reservationCancelled);
                            message.data = "reservationCancelled";
                            continue;
                        }
                    case 33: {
                            if (wireType !== 2)
                                break;
                            message.addressQuarantined = $root.ipledger.v1.AddressQuarantined.decode(reader, reader.size(), $undefined, _depth + 1, message.addressQuarantined);
                            message.data = "addressQuarantined";
                            continue;
                        }
                    case 34: {
                            if (wireType !== 2)
                                break;
                            message.quarantineLifted = $root.ipledger.v1.QuarantineLifted.decode(reader, reader.size(), $undefined, _depth + 1, message.quarantineLifted);
                            message.data = "quarantineLifted";
                            continue;
                        }
                    case 35: {
                            if (wireType !== 2)
                                break;
                            message.segmentSealed = $root.ipledger.v1.SegmentSealed.decode(reader, reader.size(), $undefined, _depth + 1, message.segmentSealed);
                            message.data = "segmentSealed";
                            continue;
                        }
                    case 36: {
                            if (wireType !== 2)
                                break;
                            message.ledgerRestored = $root.ipledger.v1.LedgerRestored.decode(reader, reader.size(), $undefined, _depth + 1, message.ledgerRestored);
                            message.data = "ledgerRestored";
                            continue;
                        }
                    case 37: {
                            if (wireType !== 2)
                                break;
                            message.keyRotated = $root.ipledger.v1.KeyRotated.decode(reader, reader.size(), $undefined, _depth + 1, message.keyRotated);
                            message.data = "keyRotated";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            Event.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.Event)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.Event: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.Event();
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.id != null)
                    if (typeof object.id !== "string" || object.id.length)
                        message.id = $String(object.id);
                if (object.command != null)
                    if (typeof object.command !== "string" || object.command.length)
                        message.command = $String(object.command);
                if (object.part != null)
                    if ($Number(object.part) !== 0)
                        message.part = object.part >>> 0;
                if (object.parts != null)
                    if ($Number(object.parts) !== 0)
                        message.parts = object.parts >>> 0;
                if (object.type != null)
                    if (typeof object.type !== "string" || object.type.length)
                        message.type = $String(object.type);
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.at != null)
                    if (typeof object.at !== "string" || object.at.length)
                        message.at = $String(object.at);
                if (object.actor != null)
                    if (typeof object.actor !== "string" || object.actor.length)
                        message.actor = $String(object.actor);
                if (object.before) {
                    if (!$Array.isArray(object.before))
                        throw $TypeError(".ipledger.v1.Event.before: array expected");
                    message.before = $Array(object.before.length);
                    for (let i = 0; i < object.before.length; ++i) {
                        if (!$util.isObject(object.before[i]))
                            throw $TypeError(".ipledger.v1.Event.before: object expected");
                        message.before[i] = $root.ipledger.v1.EventBefore.fromObject(object.before[i], _depth + 1);
                    }
                }
                if (object.prev != null)
                    if (typeof object.prev !== "string" || object.prev.length)
                        message.prev = $String(object.prev);
                if (object.hash != null)
                    if (typeof object.hash !== "string" || object.hash.length)
                        message.hash = $String(object.hash);
                if (object.stored != null)
                    if (typeof object.stored !== "string" || object.stored.length)
                        message.stored = $String(object.stored);
                if (object.ledgerCreated != null) {
                    if (!$util.isObject(object.ledgerCreated))
                        throw $TypeError(".ipledger.v1.Event.ledgerCreated: object expected");
                    message.ledgerCreated = $root.ipledger.v1.LedgerCreated.fromObject(object.ledgerCreated, _depth + 1);
                }
                if (object.subnetConfigured != null) {
                    if (!$util.isObject(object.subnetConfigured))
                        throw $TypeError(".ipledger.v1.Event.subnetConfigured: object expected");
                    message.subnetConfigured = $root.ipledger.v1.SubnetConfigured.fromObject(object.subnetConfigured, _depth + 1);
                }
                if (object.subnetRetired != null) {
                    if (!$util.isObject(object.subnetRetired))
                        throw $TypeError(".ipledger.v1.Event.subnetRetired: object expected");
                    message.subnetRetired = $root.ipledger.v1.SubnetRetired.fromObject(object.subnetRetired, _depth + 1);
                }
                if (object.addressAllocated != null) {
                    if (!$util.isObject(object.addressAllocated))
                        throw $TypeError(".ipledger.v1.Event.addressAllocated: object expected");
                    message.addressAllocated = $root.ipledger.v1.AddressAllocated.fromObject(object.addressAllocated, _depth + 1);
                }
                if (object.allocationRefused != null) {
                    if (!$util.isObject(object.allocationRefused))
                        throw $TypeError(".ipledger.v1.Event.allocationRefused: object expected");
                    message.allocationRefused = $root.ipledger.v1.AllocationRefused.fromObject(object.allocationRefused, _depth + 1);
                }
                if (object.addressBound != null) {
                    if (!$util.isObject(object.addressBound))
                        throw $TypeError(".ipledger.v1.Event.addressBound: object expected");
                    message.addressBound = $root.ipledger.v1.AddressBound.fromObject(object.addressBound, _depth + 1);
                }
                if (object.addressUnbound != null) {
                    if (!$util.isObject(object.addressUnbound))
                        throw $TypeError(".ipledger.v1.Event.addressUnbound: object expected");
                    message.addressUnbound = $root.ipledger.v1.AddressUnbound.fromObject(object.addressUnbound, _depth + 1);
                }
                if (object.addressTransferred != null) {
                    if (!$util.isObject(object.addressTransferred))
                        throw $TypeError(".ipledger.v1.Event.addressTransferred: object expected");
                    message.addressTransferred = $root.ipledger.v1.AddressTransferred.fromObject(object.addressTransferred, _depth + 1);
                }
                if (object.addressReleased != null) {
                    if (!$util.isObject(object.addressReleased))
                        throw $TypeError(".ipledger.v1.Event.addressReleased: object expected");
                    message.addressReleased = $root.ipledger.v1.AddressReleased.fromObject(object.addressReleased, _depth + 1);
                }
                if (object.poolConfigured != null) {
                    if (!$util.isObject(object.poolConfigured))
                        throw $TypeError(".ipledger.v1.Event.poolConfigured: object expected");
                    message.poolConfigured = $root.ipledger.v1.PoolConfigured.fromObject(object.poolConfigured, _depth + 1);
                }
                if (object.poolRetired != null) {
                    if (!$util.isObject(object.poolRetired))
                        throw $TypeError(".ipledger.v1.Event.poolRetired: object expected");
                    message.poolRetired = $root.ipledger.v1.PoolRetired.fromObject(object.poolRetired, _depth + 1);
                }
                if (object.addressReserved != null) {
                    if (!$util.isObject(object.addressReserved))
                        throw $TypeError(".ipledger.v1.Event.addressReserved: object expected");
                    message.addressReserved = $root.ipledger.v1.AddressReserved.fromObject(object.addressReserved, _depth + 1);
                }
                if (object.reservationCancelled != null) {
                    if (!$util.isObject(object.reservationCancelled))
                        throw $TypeError(".ipledger.v1.Event.reservationCancelled: object expected");
                    message.reservationCancelled = $root.ipledger.v1.ReservationCancelled.fromObject(object.reservationCancelled, _depth + 1);
                }
                if (object.addressQuarantined != null) {
                    if (!$util.isObject(object.addressQuarantined))
                        throw $TypeError(".ipledger.v1.Event.addressQuarantined: object expected");
                    message.addressQuarantined = $root.ipledger.v1.AddressQuarantined.fromObject(object.addressQuarantined, _depth + 1);
                }
                if (object.quarantineLifted != null) {
                    if (!$util.isObject(object.quarantineLifted))
                        throw $TypeError(".ipledger.v1.Event.quarantineLifted: object expected");
                    message.quarantineLifted = $root.ipledger.v1.QuarantineLifted.fromObject(object.quarantineLifted, _depth + 1);
                }
                if (object.segmentSealed != null) {
                    if (!$util.isObject(object.segmentSealed))
                        throw $TypeError(".ipledger.v1.Event.segmentSealed: object expected");
                    message.segmentSealed = $root.ipledger.v1.SegmentSealed.fromObject(object.segmentSealed, _depth + 1);
                }
                if (object.ledgerRestored != null) {
                    if (!$util.isObject(object.ledgerRestored))
                        throw $TypeError(".ipledger.v1.Event.ledgerRestored: object expected");
                    message.ledgerRestored = $root.ipledger.v1.LedgerRestored.fromObject(object.ledgerRestored, _depth + 1);
                }
                if (object.keyRotated != null) {
                    if (!$util.isObject(object.keyRotated))
                        throw $TypeError(".ipledger.v1.Event.keyRotated: object expected");
                    message.keyRotated = $root.ipledger.v1.KeyRotated.fromObject(object.keyRotated, _depth + 1);
                }
                return message;
            };

            Event.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.before = [];
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.id = "";
                    object.command = "";
                    object.part = 0;
                    object.parts = 0;
                    object.type = "";
                    object.subnet = "";
                    object.at = "";
                    object.actor = "";
                    object.prev = "";
                    object.hash = "";
                    object.stored = "";
                }
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.id != null && $Object.hasOwnProperty.call(message, "id"))
                    object.id = message.id;
                if (message.command != null && $Object.hasOwnProperty.call(message, "command"))
                    object.command = message.command;
                if (message.part != null && $Object.hasOwnProperty.call(message, "part"))
                    object.part = message.part;
                if (message.parts != null && $Object.hasOwnProperty.call(message, "parts"))
                    object.parts = message.parts;
                if (message.type != null && $Object.hasOwnProperty.call(message, "type"))
                    object.type = message.type;
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.at != null && $Object.hasOwnProperty.call(message, "at"))
                    object.at = message.at;
                if (message.actor != null && $Object.hasOwnProperty.call(message, "actor"))
                    object.actor = message.actor;
                if (message.before && message.before.length) {
                    object.before = $Array(message.before.length);
                    for (let j = 0; j < message.before.length; ++j)
                        object.before[j] = $root.ipledger.v1.EventBefore.toObject(message.before[j], options, _depth + 1);
                }
                if (message.prev != null && $Object.hasOwnProperty.call(message, "prev"))
                    object.prev = message.prev;
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash"))
                    object.hash = message.hash;
                if (message.stored != null && $Object.hasOwnProperty.call(message, "stored"))
                    object.stored = message.stored;
                if (message.ledgerCreated != null && $Object.hasOwnProperty.call(message, "ledgerCreated")) {
                    object.ledgerCreated = $root.ipledger.v1.LedgerCreated.toObject(message.ledgerCreated, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "ledgerCreated";
                }
                if (message.subnetConfigured != null && $Object.hasOwnProperty.call(message, "subnetConfigured")) {
                    object.subnetConfigured = $root.ipledger.v1.SubnetConfigured.toObject(message.subnetConfigured, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "subnetConfigured";
                }
                if (message.subnetRetired != null && $Object.hasOwnProperty.call(message, "subnetRetired")) {
                    object.subnetRetired = $root.ipledger.v1.SubnetRetired.toObject(message.subnetRetired, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "subnetRetired";
                }
                if (message.addressAllocated != null && $Object.hasOwnProperty.call(message, "addressAllocated")) {
                    object.addressAllocated = $root.ipledger.v1.AddressAllocated.toObject(message.addressAllocated, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressAllocated";
                }
                if (message.allocationRefused != null && $Object.hasOwnProperty.call(message, "allocationRefused")) {
                    object.allocationRefused = $root.ipledger.v1.AllocationRefused.toObject(message.allocationRefused, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "allocationRefused";
                }
                if (message.addressBound != null && $Object.hasOwnProperty.call(message, "addressBound")) {
                    object.addressBound = $root.ipledger.v1.AddressBound.toObject(message.addressBound, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressBound";
                }
                if (message.addressUnbound != null && $Object.hasOwnProperty.call(message, "addressUnbound")) {
                    object.addressUnbound = $root.ipledger.v1.AddressUnbound.toObject(message.addressUnbound, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressUnbound";
                }
                if (message.addressTransferred != null && $Object.hasOwnProperty.call(message, "addressTransferred")) {
                    object.addressTransferred = $root.ipledger.v1.AddressTransferred.toObject(message.addressTransferred, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressTransferred";
                }
                if (message.addressReleased != null && $Object.hasOwnProperty.call(message, "addressReleased")) {
                    object.addressReleased = $root.ipledger.v1.AddressReleased.toObject(message.addressReleased, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressReleased";
                }
                if (message.poolConfigured != null && $Object.hasOwnProperty.call(message, "poolConfigured")) {
                    object.poolConfigured = $root.ipledger.v1.PoolConfigured.toObject(message.poolConfigured, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "poolConfigured";
                }
                if (message.poolRetired != null && $Object.hasOwnProperty.call(message, "poolRetired")) {
                    object.poolRetired = $root.ipledger.v1.PoolRetired.toObject(message.poolRetired, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "poolRetired";
                }
                if (message.addressReserved != null && $Object.hasOwnProperty.call(message, "addressReserved")) {
                    object.addressReserved = $root.ipledger.v1.AddressReserved.toObject(message.addressReserved, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressReserved";
                }
                if (message.reservationCancelled != null && $Object.hasOwnProperty.call(message, "reservationCancelled")) {
                    object.reservationCancelled = $root.ipledger.v1.ReservationCancelled.toObject(message.reservationCancelled, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "reservationCancelled";
                }
                if (message.addressQuarantined != null && $Object.hasOwnProperty.call(message, "addressQuarantined")) {
                    object.addressQuarantined = $root.ipledger.v1.AddressQuarantined.toObject(message.addressQuarantined, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "addressQuarantined";
                }
                if (message.quarantineLifted != null && $Object.hasOwnProperty.call(message, "quarantineLifted")) {
                    object.quarantineLifted = $root.ipledger.v1.QuarantineLifted.toObject(message.quarantineLifted, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "quarantineLifted";
                }
                if (message.segmentSealed != null && $Object.hasOwnProperty.call(message, "segmentSealed")) {
                    object.segmentSealed = $root.ipledger.v1.SegmentSealed.toObject(message.segmentSealed, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "segmentSealed";
                }
                if (message.ledgerRestored != null && $Object.hasOwnProperty.call(message, "ledgerRestored")) {
                    object.ledgerRestored = $root.ipledger.v1.LedgerRestored.toObject(message.ledgerRestored, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "ledgerRestored";
                }
                if (message.keyRotated != null && $Object.hasOwnProperty.call(message, "keyRotated")) {
                    object.keyRotated = $root.ipledger.v1.KeyRotated.toObject(message.keyRotated, options, _depth + 1);
                    if (options.oneofs)
                        object.data = "keyRotated";
                }
                return object;
            };

            Event.prototype.toJSON = function() {
                return Event.toObject(this, $protobuf.util.toJSONOptions);
            };

            return Event;
        })();

        v1.EventBefore = (function() {

            const EventBefore = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            EventBefore.prototype.address = "";
            EventBefore.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            EventBefore.create = function(properties) {
                return new EventBefore(properties);
            };

            EventBefore.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(10).string(message.address);
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(16).uint64(message.seq);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            EventBefore.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.EventBefore();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            EventBefore.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.EventBefore)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.EventBefore: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.EventBefore();
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                return message;
            };

            EventBefore.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.address = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                }
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                return object;
            };

            EventBefore.prototype.toJSON = function() {
                return EventBefore.toObject(this, $protobuf.util.toJSONOptions);
            };

            return EventBefore;
        })();

        v1.LedgerCreated = (function() {

            const LedgerCreated = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            LedgerCreated.prototype.ledger = "";

            LedgerCreated.create = function(properties) {
                return new LedgerCreated(properties);
            };

            LedgerCreated.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.ledger != null && $Object.hasOwnProperty.call(message, "ledger") && message.ledger !== "")
                    writer.uint32(10).string(message.ledger);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            LedgerCreated.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.LedgerCreated();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.ledger = value;
                            else
                                delete message.ledger;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            LedgerCreated.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.LedgerCreated)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.LedgerCreated: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.LedgerCreated();
                if (object.ledger != null)
                    if (typeof object.ledger !== "string" || object.ledger.length)
                        message.ledger = $String(object.ledger);
                return message;
            };

            LedgerCreated.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.ledger = "";
                if (message.ledger != null && $Object.hasOwnProperty.call(message, "ledger"))
                    object.ledger = message.ledger;
                return object;
            };

            LedgerCreated.prototype.toJSON = function() {
                return LedgerCreated.toObject(this, $protobuf.util.toJSONOptions);
            };

            return LedgerCreated;
        })();

        v1.SubnetConfigured = (function() {

            const SubnetConfigured = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            SubnetConfigured.prototype.spec = null;
            SubnetConfigured.prototype.source = null;

            SubnetConfigured.create = function(properties) {
                return new SubnetConfigured(properties);
            };

            SubnetConfigured.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    $root.ipledger.v1.SubnetSpec.encode(message.spec, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    $root.ipledger.v1.SourceObject.encode(message.source, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            SubnetConfigured.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.SubnetConfigured();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.spec = $root.ipledger.v1.SubnetSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.source = $root.ipledger.v1.SourceObject.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            SubnetConfigured.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.SubnetConfigured)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.SubnetConfigured: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.SubnetConfigured();
                if (object.spec != null) {
                    if (!$util.isObject(object.spec))
                        throw $TypeError(".ipledger.v1.SubnetConfigured.spec: object expected");
                    message.spec = $root.ipledger.v1.SubnetSpec.fromObject(object.spec, _depth + 1);
                }
                if (object.source != null) {
                    if (!$util.isObject(object.source))
                        throw $TypeError(".ipledger.v1.SubnetConfigured.source: object expected");
                    message.source = $root.ipledger.v1.SourceObject.fromObject(object.source, _depth + 1);
                }
                return message;
            };

            SubnetConfigured.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.spec = null;
                    object.source = null;
                }
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    object.spec = $root.ipledger.v1.SubnetSpec.toObject(message.spec, options, _depth + 1);
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    object.source = $root.ipledger.v1.SourceObject.toObject(message.source, options, _depth + 1);
                return object;
            };

            SubnetConfigured.prototype.toJSON = function() {
                return SubnetConfigured.toObject(this, $protobuf.util.toJSONOptions);
            };

            return SubnetConfigured;
        })();

        v1.SubnetRetired = (function() {

            const SubnetRetired = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            SubnetRetired.create = function(properties) {
                return new SubnetRetired(properties);
            };

            SubnetRetired.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            SubnetRetired.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.SubnetRetired();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    reader.skipType(tag & 7, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            SubnetRetired.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.SubnetRetired)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.SubnetRetired: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                return new $root.ipledger.v1.SubnetRetired();
            };

            SubnetRetired.toObject = function () {
                return {};
            };

            SubnetRetired.prototype.toJSON = function() {
                return SubnetRetired.toObject(this, $protobuf.util.toJSONOptions);
            };

            return SubnetRetired;
        })();

        v1.AddressAllocated = (function() {

            const AddressAllocated = function (properties) {
                this.addresses = [];
                this.routes = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressAllocated.prototype.attachment = null;
            AddressAllocated.prototype.uid = "";
            AddressAllocated.prototype.owner = null;
            AddressAllocated.prototype.node = "";
            AddressAllocated.prototype.addresses = $util.emptyArray;
            AddressAllocated.prototype.mac = "";
            AddressAllocated.prototype["interface"] = "";
            AddressAllocated.prototype.cause = 0;
            AddressAllocated.prototype.routes = $util.emptyArray;
            AddressAllocated.prototype.defaultRoute = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(AddressAllocated.prototype, "_defaultRoute", {
                get: $util.oneOfGetter($oneOfFields = ["defaultRoute"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            AddressAllocated.create = function(properties) {
                return new AddressAllocated(properties);
            };

            AddressAllocated.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(18).string(message.uid);
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    $root.ipledger.v1.Owner.encode(message.owner, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(34).string(message.node);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        $root.ipledger.v1.AssignedAddress.encode(message.addresses[i], writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(50).string(message.mac);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(58).string(message["interface"]);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(64).int32(message.cause);
                if (message.routes != null && message.routes.length)
                    for (let i = 0; i < message.routes.length; ++i)
                        $root.ipledger.v1.Route.encode(message.routes[i], writer.uint32(74).fork(), _depth + 1).ldelim();
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    writer.uint32(80).bool(message.defaultRoute);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressAllocated.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressAllocated();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.owner = $root.ipledger.v1.Owner.decode(reader, reader.size(), $undefined, _depth + 1, message.owner);
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push($root.ipledger.v1.AssignedAddress.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 8: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if (!(message.routes && message.routes.length))
                                message.routes = [];
                            message.routes.push($root.ipledger.v1.Route.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 10: {
                            if (wireType !== 0)
                                break;
                            message.defaultRoute = reader.bool();
                            message._defaultRoute = "defaultRoute";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressAllocated.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressAllocated)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressAllocated: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressAllocated();
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.AddressAllocated.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.owner != null) {
                    if (!$util.isObject(object.owner))
                        throw $TypeError(".ipledger.v1.AddressAllocated.owner: object expected");
                    message.owner = $root.ipledger.v1.Owner.fromObject(object.owner, _depth + 1);
                }
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressAllocated.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i) {
                        if (!$util.isObject(object.addresses[i]))
                            throw $TypeError(".ipledger.v1.AddressAllocated.addresses: object expected");
                        message.addresses[i] = $root.ipledger.v1.AssignedAddress.fromObject(object.addresses[i], _depth + 1);
                    }
                }
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.AllocationCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "ALLOCATION_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "ALLOCATION_CAUSE_DYNAMIC":
                    case 1:
                        message.cause = 1;
                        break;
                    case "ALLOCATION_CAUSE_STATIC":
                    case 2:
                        message.cause = 2;
                        break;
                    case "ALLOCATION_CAUSE_POOL":
                    case 3:
                        message.cause = 3;
                        break;
                    case "ALLOCATION_CAUSE_RESERVATION":
                    case 4:
                        message.cause = 4;
                        break;
                    case "ALLOCATION_CAUSE_IMPORT":
                    case 5:
                        message.cause = 5;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                if (object.routes) {
                    if (!$Array.isArray(object.routes))
                        throw $TypeError(".ipledger.v1.AddressAllocated.routes: array expected");
                    message.routes = $Array(object.routes.length);
                    for (let i = 0; i < object.routes.length; ++i) {
                        if (!$util.isObject(object.routes[i]))
                            throw $TypeError(".ipledger.v1.AddressAllocated.routes: object expected");
                        message.routes[i] = $root.ipledger.v1.Route.fromObject(object.routes[i], _depth + 1);
                    }
                }
                if (object.defaultRoute != null)
                    message.defaultRoute = $Boolean(object.defaultRoute);
                return message;
            };

            AddressAllocated.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults) {
                    object.addresses = [];
                    object.routes = [];
                }
                if (options.defaults) {
                    object.attachment = null;
                    object.uid = "";
                    object.owner = null;
                    object.node = "";
                    object.mac = "";
                    object["interface"] = "";
                    object.cause = options.enums === $String ? "ALLOCATION_CAUSE_UNSPECIFIED" : 0;
                }
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    object.owner = $root.ipledger.v1.Owner.toObject(message.owner, options, _depth + 1);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = $root.ipledger.v1.AssignedAddress.toObject(message.addresses[j], options, _depth + 1);
                }
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.AllocationCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.AllocationCause[message.cause] : message.cause;
                if (message.routes && message.routes.length) {
                    object.routes = $Array(message.routes.length);
                    for (let j = 0; j < message.routes.length; ++j)
                        object.routes[j] = $root.ipledger.v1.Route.toObject(message.routes[j], options, _depth + 1);
                }
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    object.defaultRoute = message.defaultRoute;
                return object;
            };

            AddressAllocated.prototype.toJSON = function() {
                return AddressAllocated.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressAllocated;
        })();

        v1.AllocationRefused = (function() {

            const AllocationRefused = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AllocationRefused.prototype.attachment = null;
            AllocationRefused.prototype.uid = "";
            AllocationRefused.prototype.reason = "";
            AllocationRefused.prototype.message = "";

            AllocationRefused.create = function(properties) {
                return new AllocationRefused(properties);
            };

            AllocationRefused.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(18).string(message.uid);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(26).string(message.reason);
                if (message.message != null && $Object.hasOwnProperty.call(message, "message") && message.message !== "")
                    writer.uint32(34).string(message.message);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AllocationRefused.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AllocationRefused();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.message = value;
                            else
                                delete message.message;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AllocationRefused.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AllocationRefused)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AllocationRefused: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AllocationRefused();
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.AllocationRefused.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                if (object.message != null)
                    if (typeof object.message !== "string" || object.message.length)
                        message.message = $String(object.message);
                return message;
            };

            AllocationRefused.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.attachment = null;
                    object.uid = "";
                    object.reason = "";
                    object.message = "";
                }
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                if (message.message != null && $Object.hasOwnProperty.call(message, "message"))
                    object.message = message.message;
                return object;
            };

            AllocationRefused.prototype.toJSON = function() {
                return AllocationRefused.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AllocationRefused;
        })();

        v1.AddressBound = (function() {

            const AddressBound = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressBound.prototype.alloc = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            AddressBound.prototype.attachment = null;
            AddressBound.prototype.uid = "";
            AddressBound.prototype.addresses = $util.emptyArray;
            AddressBound.prototype.containerId = "";
            AddressBound.prototype["interface"] = "";
            AddressBound.prototype.node = "";
            AddressBound.prototype.bootId = "";

            AddressBound.create = function(properties) {
                return new AddressBound(properties);
            };

            AddressBound.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.alloc != null && $Object.hasOwnProperty.call(message, "alloc") && (typeof message.alloc === "object" ? message.alloc.low || message.alloc.high : message.alloc !== 0))
                    writer.uint32(8).uint64(message.alloc);
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(26).string(message.uid);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(34).string(message.addresses[i]);
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId") && message.containerId !== "")
                    writer.uint32(42).string(message.containerId);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(50).string(message["interface"]);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(58).string(message.node);
                if (message.bootId != null && $Object.hasOwnProperty.call(message, "bootId") && message.bootId !== "")
                    writer.uint32(66).string(message.bootId);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressBound.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressBound();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.alloc = value;
                            else
                                delete message.alloc;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.containerId = value;
                            else
                                delete message.containerId;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.bootId = value;
                            else
                                delete message.bootId;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressBound.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressBound)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressBound: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressBound();
                if (object.alloc != null)
                    if (typeof object.alloc === "object" ? object.alloc.low || object.alloc.high : $Number(object.alloc) !== 0)
                        if ($util.Long)
                            message.alloc = $util.Long.fromValue(object.alloc, true);
                        else if (typeof object.alloc === "string")
                            message.alloc = $parseInt(object.alloc, 10);
                        else if (typeof object.alloc === "number")
                            message.alloc = object.alloc;
                        else if (typeof object.alloc === "object")
                            message.alloc = new $util.LongBits(object.alloc.low >>> 0, object.alloc.high >>> 0).toNumber(true);
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.AddressBound.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressBound.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.containerId != null)
                    if (typeof object.containerId !== "string" || object.containerId.length)
                        message.containerId = $String(object.containerId);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.bootId != null)
                    if (typeof object.bootId !== "string" || object.bootId.length)
                        message.bootId = $String(object.bootId);
                return message;
            };

            AddressBound.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.alloc = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.alloc = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.attachment = null;
                    object.uid = "";
                    object.containerId = "";
                    object["interface"] = "";
                    object.node = "";
                    object.bootId = "";
                }
                if (message.alloc != null && $Object.hasOwnProperty.call(message, "alloc"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.alloc = typeof message.alloc === "number" ? $BigInt(message.alloc) : $util.Long.fromBits(message.alloc.low >>> 0, message.alloc.high >>> 0, true).toBigInt();
                    else if (typeof message.alloc === "number")
                        object.alloc = options.longs === $String ? $String(message.alloc) : message.alloc;
                    else
                        object.alloc = options.longs === $String ? $util.Long.prototype.toString.call(message.alloc) : options.longs === $Number ? new $util.LongBits(message.alloc.low >>> 0, message.alloc.high >>> 0).toNumber(true) : message.alloc;
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId"))
                    object.containerId = message.containerId;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.bootId != null && $Object.hasOwnProperty.call(message, "bootId"))
                    object.bootId = message.bootId;
                return object;
            };

            AddressBound.prototype.toJSON = function() {
                return AddressBound.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressBound;
        })();

        v1.AddressUnbound = (function() {

            const AddressUnbound = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressUnbound.prototype.attachment = null;
            AddressUnbound.prototype.addresses = $util.emptyArray;
            AddressUnbound.prototype.containerId = "";
            AddressUnbound.prototype["interface"] = "";
            AddressUnbound.prototype.cause = 0;

            AddressUnbound.create = function(properties) {
                return new AddressUnbound(properties);
            };

            AddressUnbound.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(18).string(message.addresses[i]);
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId") && message.containerId !== "")
                    writer.uint32(26).string(message.containerId);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(34).string(message["interface"]);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(40).int32(message.cause);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressUnbound.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressUnbound();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.containerId = value;
                            else
                                delete message.containerId;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressUnbound.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressUnbound)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressUnbound: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressUnbound();
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.AddressUnbound.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressUnbound.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.containerId != null)
                    if (typeof object.containerId !== "string" || object.containerId.length)
                        message.containerId = $String(object.containerId);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.UnbindCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "UNBIND_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "UNBIND_CAUSE_CONTAINER_DELETED":
                    case 1:
                        message.cause = 1;
                        break;
                    case "UNBIND_CAUSE_GARBAGE_COLLECTED":
                    case 2:
                        message.cause = 2;
                        break;
                    case "UNBIND_CAUSE_NODE_REBOOTED":
                    case 3:
                        message.cause = 3;
                        break;
                    case "UNBIND_CAUSE_NODE_DELETED":
                    case 4:
                        message.cause = 4;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                return message;
            };

            AddressUnbound.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    object.attachment = null;
                    object.containerId = "";
                    object["interface"] = "";
                    object.cause = options.enums === $String ? "UNBIND_CAUSE_UNSPECIFIED" : 0;
                }
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.containerId != null && $Object.hasOwnProperty.call(message, "containerId"))
                    object.containerId = message.containerId;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.UnbindCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.UnbindCause[message.cause] : message.cause;
                return object;
            };

            AddressUnbound.prototype.toJSON = function() {
                return AddressUnbound.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressUnbound;
        })();

        v1.AddressTransferred = (function() {

            const AddressTransferred = function (properties) {
                this.addresses = [];
                this.routes = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressTransferred.prototype.alloc = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            AddressTransferred.prototype.attachment = null;
            AddressTransferred.prototype.fromUid = "";
            AddressTransferred.prototype.uid = "";
            AddressTransferred.prototype.owner = null;
            AddressTransferred.prototype.node = "";
            AddressTransferred.prototype.addresses = $util.emptyArray;
            AddressTransferred.prototype.mac = "";
            AddressTransferred.prototype["interface"] = "";
            AddressTransferred.prototype.cause = 0;
            AddressTransferred.prototype.routes = $util.emptyArray;
            AddressTransferred.prototype.defaultRoute = null;

            let $oneOfFields;

            // Virtual OneOf for proto3 optional field
            $Object.defineProperty(AddressTransferred.prototype, "_defaultRoute", {
                get: $util.oneOfGetter($oneOfFields = ["defaultRoute"]),
                set: $util.oneOfSetter($oneOfFields)
            });

            AddressTransferred.create = function(properties) {
                return new AddressTransferred(properties);
            };

            AddressTransferred.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.alloc != null && $Object.hasOwnProperty.call(message, "alloc") && (typeof message.alloc === "object" ? message.alloc.low || message.alloc.high : message.alloc !== 0))
                    writer.uint32(8).uint64(message.alloc);
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.fromUid != null && $Object.hasOwnProperty.call(message, "fromUid") && message.fromUid !== "")
                    writer.uint32(26).string(message.fromUid);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(34).string(message.uid);
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    $root.ipledger.v1.Owner.encode(message.owner, writer.uint32(42).fork(), _depth + 1).ldelim();
                if (message.node != null && $Object.hasOwnProperty.call(message, "node") && message.node !== "")
                    writer.uint32(50).string(message.node);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        $root.ipledger.v1.AssignedAddress.encode(message.addresses[i], writer.uint32(58).fork(), _depth + 1).ldelim();
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(66).string(message.mac);
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface") && message["interface"] !== "")
                    writer.uint32(74).string(message["interface"]);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(80).int32(message.cause);
                if (message.routes != null && message.routes.length)
                    for (let i = 0; i < message.routes.length; ++i)
                        $root.ipledger.v1.Route.encode(message.routes[i], writer.uint32(90).fork(), _depth + 1).ldelim();
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    writer.uint32(96).bool(message.defaultRoute);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressTransferred.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressTransferred();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.alloc = value;
                            else
                                delete message.alloc;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.fromUid = value;
                            else
                                delete message.fromUid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            message.owner = $root.ipledger.v1.Owner.decode(reader, reader.size(), $undefined, _depth + 1, message.owner);
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.node = value;
                            else
                                delete message.node;
                            continue;
                        }
                    case 7: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push($root.ipledger.v1.AssignedAddress.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 8: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    case 9: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message["interface"] = value;
                            else
                                delete message["interface"];
                            continue;
                        }
                    case 10: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    case 11: {
                            if (wireType !== 2)
                                break;
                            if (!(message.routes && message.routes.length))
                                message.routes = [];
                            message.routes.push($root.ipledger.v1.Route.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 12: {
                            if (wireType !== 0)
                                break;
                            message.defaultRoute = reader.bool();
                            message._defaultRoute = "defaultRoute";
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressTransferred.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressTransferred)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressTransferred: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressTransferred();
                if (object.alloc != null)
                    if (typeof object.alloc === "object" ? object.alloc.low || object.alloc.high : $Number(object.alloc) !== 0)
                        if ($util.Long)
                            message.alloc = $util.Long.fromValue(object.alloc, true);
                        else if (typeof object.alloc === "string")
                            message.alloc = $parseInt(object.alloc, 10);
                        else if (typeof object.alloc === "number")
                            message.alloc = object.alloc;
                        else if (typeof object.alloc === "object")
                            message.alloc = new $util.LongBits(object.alloc.low >>> 0, object.alloc.high >>> 0).toNumber(true);
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.AddressTransferred.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.fromUid != null)
                    if (typeof object.fromUid !== "string" || object.fromUid.length)
                        message.fromUid = $String(object.fromUid);
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.owner != null) {
                    if (!$util.isObject(object.owner))
                        throw $TypeError(".ipledger.v1.AddressTransferred.owner: object expected");
                    message.owner = $root.ipledger.v1.Owner.fromObject(object.owner, _depth + 1);
                }
                if (object.node != null)
                    if (typeof object.node !== "string" || object.node.length)
                        message.node = $String(object.node);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressTransferred.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i) {
                        if (!$util.isObject(object.addresses[i]))
                            throw $TypeError(".ipledger.v1.AddressTransferred.addresses: object expected");
                        message.addresses[i] = $root.ipledger.v1.AssignedAddress.fromObject(object.addresses[i], _depth + 1);
                    }
                }
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                if (object["interface"] != null)
                    if (typeof object["interface"] !== "string" || object["interface"].length)
                        message["interface"] = $String(object["interface"]);
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.AllocationCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "ALLOCATION_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "ALLOCATION_CAUSE_DYNAMIC":
                    case 1:
                        message.cause = 1;
                        break;
                    case "ALLOCATION_CAUSE_STATIC":
                    case 2:
                        message.cause = 2;
                        break;
                    case "ALLOCATION_CAUSE_POOL":
                    case 3:
                        message.cause = 3;
                        break;
                    case "ALLOCATION_CAUSE_RESERVATION":
                    case 4:
                        message.cause = 4;
                        break;
                    case "ALLOCATION_CAUSE_IMPORT":
                    case 5:
                        message.cause = 5;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                if (object.routes) {
                    if (!$Array.isArray(object.routes))
                        throw $TypeError(".ipledger.v1.AddressTransferred.routes: array expected");
                    message.routes = $Array(object.routes.length);
                    for (let i = 0; i < object.routes.length; ++i) {
                        if (!$util.isObject(object.routes[i]))
                            throw $TypeError(".ipledger.v1.AddressTransferred.routes: object expected");
                        message.routes[i] = $root.ipledger.v1.Route.fromObject(object.routes[i], _depth + 1);
                    }
                }
                if (object.defaultRoute != null)
                    message.defaultRoute = $Boolean(object.defaultRoute);
                return message;
            };

            AddressTransferred.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults) {
                    object.addresses = [];
                    object.routes = [];
                }
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.alloc = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.alloc = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.attachment = null;
                    object.fromUid = "";
                    object.uid = "";
                    object.owner = null;
                    object.node = "";
                    object.mac = "";
                    object["interface"] = "";
                    object.cause = options.enums === $String ? "ALLOCATION_CAUSE_UNSPECIFIED" : 0;
                }
                if (message.alloc != null && $Object.hasOwnProperty.call(message, "alloc"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.alloc = typeof message.alloc === "number" ? $BigInt(message.alloc) : $util.Long.fromBits(message.alloc.low >>> 0, message.alloc.high >>> 0, true).toBigInt();
                    else if (typeof message.alloc === "number")
                        object.alloc = options.longs === $String ? $String(message.alloc) : message.alloc;
                    else
                        object.alloc = options.longs === $String ? $util.Long.prototype.toString.call(message.alloc) : options.longs === $Number ? new $util.LongBits(message.alloc.low >>> 0, message.alloc.high >>> 0).toNumber(true) : message.alloc;
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.fromUid != null && $Object.hasOwnProperty.call(message, "fromUid"))
                    object.fromUid = message.fromUid;
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.owner != null && $Object.hasOwnProperty.call(message, "owner"))
                    object.owner = $root.ipledger.v1.Owner.toObject(message.owner, options, _depth + 1);
                if (message.node != null && $Object.hasOwnProperty.call(message, "node"))
                    object.node = message.node;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = $root.ipledger.v1.AssignedAddress.toObject(message.addresses[j], options, _depth + 1);
                }
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                if (message["interface"] != null && $Object.hasOwnProperty.call(message, "interface"))
                    object["interface"] = message["interface"];
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.AllocationCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.AllocationCause[message.cause] : message.cause;
                if (message.routes && message.routes.length) {
                    object.routes = $Array(message.routes.length);
                    for (let j = 0; j < message.routes.length; ++j)
                        object.routes[j] = $root.ipledger.v1.Route.toObject(message.routes[j], options, _depth + 1);
                }
                if (message.defaultRoute != null && $Object.hasOwnProperty.call(message, "defaultRoute"))
                    object.defaultRoute = message.defaultRoute;
                return object;
            };

            AddressTransferred.prototype.toJSON = function() {
                return AddressTransferred.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressTransferred;
        })();

        v1.AddressReleased = (function() {

            const AddressReleased = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressReleased.prototype.alloc = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            AddressReleased.prototype.attachment = null;
            AddressReleased.prototype.uid = "";
            AddressReleased.prototype.addresses = $util.emptyArray;
            AddressReleased.prototype.cause = 0;
            AddressReleased.prototype.evidence = "";

            AddressReleased.create = function(properties) {
                return new AddressReleased(properties);
            };

            AddressReleased.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.alloc != null && $Object.hasOwnProperty.call(message, "alloc") && (typeof message.alloc === "object" ? message.alloc.low || message.alloc.high : message.alloc !== 0))
                    writer.uint32(8).uint64(message.alloc);
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    $root.ipledger.v1.Attachment.encode(message.attachment, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid") && message.uid !== "")
                    writer.uint32(26).string(message.uid);
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(34).string(message.addresses[i]);
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause") && message.cause !== 0)
                    writer.uint32(40).int32(message.cause);
                if (message.evidence != null && $Object.hasOwnProperty.call(message, "evidence") && message.evidence !== "")
                    writer.uint32(50).string(message.evidence);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressReleased.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressReleased();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.alloc = value;
                            else
                                delete message.alloc;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.attachment = $root.ipledger.v1.Attachment.decode(reader, reader.size(), $undefined, _depth + 1, message.attachment);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.uid = value;
                            else
                                delete message.uid;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 5: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.int32())
                                message.cause = value;
                            else
                                delete message.cause;
                            continue;
                        }
                    case 6: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.evidence = value;
                            else
                                delete message.evidence;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressReleased.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressReleased)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressReleased: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressReleased();
                if (object.alloc != null)
                    if (typeof object.alloc === "object" ? object.alloc.low || object.alloc.high : $Number(object.alloc) !== 0)
                        if ($util.Long)
                            message.alloc = $util.Long.fromValue(object.alloc, true);
                        else if (typeof object.alloc === "string")
                            message.alloc = $parseInt(object.alloc, 10);
                        else if (typeof object.alloc === "number")
                            message.alloc = object.alloc;
                        else if (typeof object.alloc === "object")
                            message.alloc = new $util.LongBits(object.alloc.low >>> 0, object.alloc.high >>> 0).toNumber(true);
                if (object.attachment != null) {
                    if (!$util.isObject(object.attachment))
                        throw $TypeError(".ipledger.v1.AddressReleased.attachment: object expected");
                    message.attachment = $root.ipledger.v1.Attachment.fromObject(object.attachment, _depth + 1);
                }
                if (object.uid != null)
                    if (typeof object.uid !== "string" || object.uid.length)
                        message.uid = $String(object.uid);
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressReleased.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.cause !== 0 && (typeof object.cause !== "string" || $root.ipledger.v1.ReleaseCause[object.cause] !== 0))
                    switch (object.cause) {
                    case "RELEASE_CAUSE_UNSPECIFIED":
                    case 0:
                        message.cause = 0;
                        break;
                    case "RELEASE_CAUSE_POD_DELETED":
                    case 1:
                        message.cause = 1;
                        break;
                    case "RELEASE_CAUSE_POD_COMPLETED":
                    case 2:
                        message.cause = 2;
                        break;
                    case "RELEASE_CAUSE_SCALED_DOWN":
                    case 3:
                        message.cause = 3;
                        break;
                    case "RELEASE_CAUSE_OWNER_DELETED":
                    case 4:
                        message.cause = 4;
                        break;
                    case "RELEASE_CAUSE_OPERATOR":
                    case 5:
                        message.cause = 5;
                        break;
                    case "RELEASE_CAUSE_GARBAGE_COLLECTED":
                    case 6:
                        message.cause = 6;
                        break;
                    default:
                        if (typeof object.cause === "number" && (object.cause | 0) === object.cause)
                            message.cause = object.cause;
                    }
                if (object.evidence != null)
                    if (typeof object.evidence !== "string" || object.evidence.length)
                        message.evidence = $String(object.evidence);
                return message;
            };

            AddressReleased.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.alloc = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.alloc = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.attachment = null;
                    object.uid = "";
                    object.cause = options.enums === $String ? "RELEASE_CAUSE_UNSPECIFIED" : 0;
                    object.evidence = "";
                }
                if (message.alloc != null && $Object.hasOwnProperty.call(message, "alloc"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.alloc = typeof message.alloc === "number" ? $BigInt(message.alloc) : $util.Long.fromBits(message.alloc.low >>> 0, message.alloc.high >>> 0, true).toBigInt();
                    else if (typeof message.alloc === "number")
                        object.alloc = options.longs === $String ? $String(message.alloc) : message.alloc;
                    else
                        object.alloc = options.longs === $String ? $util.Long.prototype.toString.call(message.alloc) : options.longs === $Number ? new $util.LongBits(message.alloc.low >>> 0, message.alloc.high >>> 0).toNumber(true) : message.alloc;
                if (message.attachment != null && $Object.hasOwnProperty.call(message, "attachment"))
                    object.attachment = $root.ipledger.v1.Attachment.toObject(message.attachment, options, _depth + 1);
                if (message.uid != null && $Object.hasOwnProperty.call(message, "uid"))
                    object.uid = message.uid;
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.cause != null && $Object.hasOwnProperty.call(message, "cause"))
                    object.cause = options.enums === $String ? $root.ipledger.v1.ReleaseCause[message.cause] === $undefined ? message.cause : $root.ipledger.v1.ReleaseCause[message.cause] : message.cause;
                if (message.evidence != null && $Object.hasOwnProperty.call(message, "evidence"))
                    object.evidence = message.evidence;
                return object;
            };

            AddressReleased.prototype.toJSON = function() {
                return AddressReleased.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressReleased;
        })();

        v1.PoolConfigured = (function() {

            const PoolConfigured = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            PoolConfigured.prototype.pool = "";
            PoolConfigured.prototype.spec = null;
            PoolConfigured.prototype.source = null;

            PoolConfigured.create = function(properties) {
                return new PoolConfigured(properties);
            };

            PoolConfigured.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool") && message.pool !== "")
                    writer.uint32(10).string(message.pool);
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    $root.ipledger.v1.PoolSpec.encode(message.spec, writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    $root.ipledger.v1.SourceObject.encode(message.source, writer.uint32(26).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            PoolConfigured.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.PoolConfigured();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pool = value;
                            else
                                delete message.pool;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            message.spec = $root.ipledger.v1.PoolSpec.decode(reader, reader.size(), $undefined, _depth + 1, message.spec);
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            message.source = $root.ipledger.v1.SourceObject.decode(reader, reader.size(), $undefined, _depth + 1, message.source);
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            PoolConfigured.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.PoolConfigured)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.PoolConfigured: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.PoolConfigured();
                if (object.pool != null)
                    if (typeof object.pool !== "string" || object.pool.length)
                        message.pool = $String(object.pool);
                if (object.spec != null) {
                    if (!$util.isObject(object.spec))
                        throw $TypeError(".ipledger.v1.PoolConfigured.spec: object expected");
                    message.spec = $root.ipledger.v1.PoolSpec.fromObject(object.spec, _depth + 1);
                }
                if (object.source != null) {
                    if (!$util.isObject(object.source))
                        throw $TypeError(".ipledger.v1.PoolConfigured.source: object expected");
                    message.source = $root.ipledger.v1.SourceObject.fromObject(object.source, _depth + 1);
                }
                return message;
            };

            PoolConfigured.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.pool = "";
                    object.spec = null;
                    object.source = null;
                }
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    object.pool = message.pool;
                if (message.spec != null && $Object.hasOwnProperty.call(message, "spec"))
                    object.spec = $root.ipledger.v1.PoolSpec.toObject(message.spec, options, _depth + 1);
                if (message.source != null && $Object.hasOwnProperty.call(message, "source"))
                    object.source = $root.ipledger.v1.SourceObject.toObject(message.source, options, _depth + 1);
                return object;
            };

            PoolConfigured.prototype.toJSON = function() {
                return PoolConfigured.toObject(this, $protobuf.util.toJSONOptions);
            };

            return PoolConfigured;
        })();

        v1.PoolRetired = (function() {

            const PoolRetired = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            PoolRetired.prototype.pool = "";

            PoolRetired.create = function(properties) {
                return new PoolRetired(properties);
            };

            PoolRetired.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool") && message.pool !== "")
                    writer.uint32(10).string(message.pool);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            PoolRetired.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.PoolRetired();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pool = value;
                            else
                                delete message.pool;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            PoolRetired.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.PoolRetired)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.PoolRetired: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.PoolRetired();
                if (object.pool != null)
                    if (typeof object.pool !== "string" || object.pool.length)
                        message.pool = $String(object.pool);
                return message;
            };

            PoolRetired.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    object.pool = "";
                if (message.pool != null && $Object.hasOwnProperty.call(message, "pool"))
                    object.pool = message.pool;
                return object;
            };

            PoolRetired.prototype.toJSON = function() {
                return PoolRetired.toObject(this, $protobuf.util.toJSONOptions);
            };

            return PoolRetired;
        })();

        v1.AddressReserved = (function() {

            const AddressReserved = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressReserved.prototype.addresses = $util.emptyArray;
            AddressReserved.prototype.reservedFor = "";
            AddressReserved.prototype.reason = "";
            AddressReserved.prototype.mac = "";

            AddressReserved.create = function(properties) {
                return new AddressReserved(properties);
            };

            AddressReserved.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(10).string(message.addresses[i]);
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor") && message.reservedFor !== "")
                    writer.uint32(18).string(message.reservedFor);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(26).string(message.reason);
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac") && message.mac !== "")
                    writer.uint32(34).string(message.mac);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressReserved.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressReserved();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedFor = value;
                            else
                                delete message.reservedFor;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.mac = value;
                            else
                                delete message.mac;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressReserved.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressReserved)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressReserved: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressReserved();
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.AddressReserved.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.reservedFor != null)
                    if (typeof object.reservedFor !== "string" || object.reservedFor.length)
                        message.reservedFor = $String(object.reservedFor);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                if (object.mac != null)
                    if (typeof object.mac !== "string" || object.mac.length)
                        message.mac = $String(object.mac);
                return message;
            };

            AddressReserved.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    object.reservedFor = "";
                    object.reason = "";
                    object.mac = "";
                }
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor"))
                    object.reservedFor = message.reservedFor;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                if (message.mac != null && $Object.hasOwnProperty.call(message, "mac"))
                    object.mac = message.mac;
                return object;
            };

            AddressReserved.prototype.toJSON = function() {
                return AddressReserved.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressReserved;
        })();

        v1.ReservationCancelled = (function() {

            const ReservationCancelled = function (properties) {
                this.addresses = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ReservationCancelled.prototype.addresses = $util.emptyArray;
            ReservationCancelled.prototype.reservedFor = "";
            ReservationCancelled.prototype.reason = "";

            ReservationCancelled.create = function(properties) {
                return new ReservationCancelled(properties);
            };

            ReservationCancelled.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.addresses != null && message.addresses.length)
                    for (let i = 0; i < message.addresses.length; ++i)
                        writer.uint32(10).string(message.addresses[i]);
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor") && message.reservedFor !== "")
                    writer.uint32(18).string(message.reservedFor);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(26).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ReservationCancelled.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ReservationCancelled();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if (!(message.addresses && message.addresses.length))
                                message.addresses = [];
                            message.addresses.push(reader.stringVerify());
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reservedFor = value;
                            else
                                delete message.reservedFor;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ReservationCancelled.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ReservationCancelled)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ReservationCancelled: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ReservationCancelled();
                if (object.addresses) {
                    if (!$Array.isArray(object.addresses))
                        throw $TypeError(".ipledger.v1.ReservationCancelled.addresses: array expected");
                    message.addresses = $Array(object.addresses.length);
                    for (let i = 0; i < object.addresses.length; ++i)
                        message.addresses[i] = $String(object.addresses[i]);
                }
                if (object.reservedFor != null)
                    if (typeof object.reservedFor !== "string" || object.reservedFor.length)
                        message.reservedFor = $String(object.reservedFor);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            ReservationCancelled.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.addresses = [];
                if (options.defaults) {
                    object.reservedFor = "";
                    object.reason = "";
                }
                if (message.addresses && message.addresses.length) {
                    object.addresses = $Array(message.addresses.length);
                    for (let j = 0; j < message.addresses.length; ++j)
                        object.addresses[j] = message.addresses[j];
                }
                if (message.reservedFor != null && $Object.hasOwnProperty.call(message, "reservedFor"))
                    object.reservedFor = message.reservedFor;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            ReservationCancelled.prototype.toJSON = function() {
                return ReservationCancelled.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ReservationCancelled;
        })();

        v1.AddressQuarantined = (function() {

            const AddressQuarantined = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            AddressQuarantined.prototype.address = "";
            AddressQuarantined.prototype.seenMac = "";
            AddressQuarantined.prototype.seenAt = "";
            AddressQuarantined.prototype.reason = "";

            AddressQuarantined.create = function(properties) {
                return new AddressQuarantined(properties);
            };

            AddressQuarantined.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(10).string(message.address);
                if (message.seenMac != null && $Object.hasOwnProperty.call(message, "seenMac") && message.seenMac !== "")
                    writer.uint32(18).string(message.seenMac);
                if (message.seenAt != null && $Object.hasOwnProperty.call(message, "seenAt") && message.seenAt !== "")
                    writer.uint32(26).string(message.seenAt);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(34).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            AddressQuarantined.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.AddressQuarantined();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.seenMac = value;
                            else
                                delete message.seenMac;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.seenAt = value;
                            else
                                delete message.seenAt;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            AddressQuarantined.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.AddressQuarantined)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.AddressQuarantined: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.AddressQuarantined();
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.seenMac != null)
                    if (typeof object.seenMac !== "string" || object.seenMac.length)
                        message.seenMac = $String(object.seenMac);
                if (object.seenAt != null)
                    if (typeof object.seenAt !== "string" || object.seenAt.length)
                        message.seenAt = $String(object.seenAt);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            AddressQuarantined.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.address = "";
                    object.seenMac = "";
                    object.seenAt = "";
                    object.reason = "";
                }
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.seenMac != null && $Object.hasOwnProperty.call(message, "seenMac"))
                    object.seenMac = message.seenMac;
                if (message.seenAt != null && $Object.hasOwnProperty.call(message, "seenAt"))
                    object.seenAt = message.seenAt;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            AddressQuarantined.prototype.toJSON = function() {
                return AddressQuarantined.toObject(this, $protobuf.util.toJSONOptions);
            };

            return AddressQuarantined;
        })();

        v1.QuarantineLifted = (function() {

            const QuarantineLifted = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            QuarantineLifted.prototype.address = "";
            QuarantineLifted.prototype.reason = "";

            QuarantineLifted.create = function(properties) {
                return new QuarantineLifted(properties);
            };

            QuarantineLifted.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(10).string(message.address);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(18).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            QuarantineLifted.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.QuarantineLifted();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            QuarantineLifted.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.QuarantineLifted)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.QuarantineLifted: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.QuarantineLifted();
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            QuarantineLifted.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.address = "";
                    object.reason = "";
                }
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            QuarantineLifted.prototype.toJSON = function() {
                return QuarantineLifted.toObject(this, $protobuf.util.toJSONOptions);
            };

            return QuarantineLifted;
        })();

        v1.SegmentSealed = (function() {

            const SegmentSealed = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            SegmentSealed.prototype.from = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            SegmentSealed.prototype.to = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            SegmentSealed.prototype.hash = "";
            SegmentSealed.prototype.manifest = "";
            SegmentSealed.prototype.archive = "";

            SegmentSealed.create = function(properties) {
                return new SegmentSealed(properties);
            };

            SegmentSealed.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.from != null && $Object.hasOwnProperty.call(message, "from") && (typeof message.from === "object" ? message.from.low || message.from.high : message.from !== 0))
                    writer.uint32(8).uint64(message.from);
                if (message.to != null && $Object.hasOwnProperty.call(message, "to") && (typeof message.to === "object" ? message.to.low || message.to.high : message.to !== 0))
                    writer.uint32(16).uint64(message.to);
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash") && message.hash !== "")
                    writer.uint32(26).string(message.hash);
                if (message.manifest != null && $Object.hasOwnProperty.call(message, "manifest") && message.manifest !== "")
                    writer.uint32(34).string(message.manifest);
                if (message.archive != null && $Object.hasOwnProperty.call(message, "archive") && message.archive !== "")
                    writer.uint32(42).string(message.archive);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            SegmentSealed.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.SegmentSealed();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.from = value;
                            else
                                delete message.from;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.to = value;
                            else
                                delete message.to;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.hash = value;
                            else
                                delete message.hash;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.manifest = value;
                            else
                                delete message.manifest;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.archive = value;
                            else
                                delete message.archive;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            SegmentSealed.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.SegmentSealed)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.SegmentSealed: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.SegmentSealed();
                if (object.from != null)
                    if (typeof object.from === "object" ? object.from.low || object.from.high : $Number(object.from) !== 0)
                        if ($util.Long)
                            message.from = $util.Long.fromValue(object.from, true);
                        else if (typeof object.from === "string")
                            message.from = $parseInt(object.from, 10);
                        else if (typeof object.from === "number")
                            message.from = object.from;
                        else if (typeof object.from === "object")
                            message.from = new $util.LongBits(object.from.low >>> 0, object.from.high >>> 0).toNumber(true);
                if (object.to != null)
                    if (typeof object.to === "object" ? object.to.low || object.to.high : $Number(object.to) !== 0)
                        if ($util.Long)
                            message.to = $util.Long.fromValue(object.to, true);
                        else if (typeof object.to === "string")
                            message.to = $parseInt(object.to, 10);
                        else if (typeof object.to === "number")
                            message.to = object.to;
                        else if (typeof object.to === "object")
                            message.to = new $util.LongBits(object.to.low >>> 0, object.to.high >>> 0).toNumber(true);
                if (object.hash != null)
                    if (typeof object.hash !== "string" || object.hash.length)
                        message.hash = $String(object.hash);
                if (object.manifest != null)
                    if (typeof object.manifest !== "string" || object.manifest.length)
                        message.manifest = $String(object.manifest);
                if (object.archive != null)
                    if (typeof object.archive !== "string" || object.archive.length)
                        message.archive = $String(object.archive);
                return message;
            };

            SegmentSealed.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.from = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.from = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.to = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.to = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.hash = "";
                    object.manifest = "";
                    object.archive = "";
                }
                if (message.from != null && $Object.hasOwnProperty.call(message, "from"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.from = typeof message.from === "number" ? $BigInt(message.from) : $util.Long.fromBits(message.from.low >>> 0, message.from.high >>> 0, true).toBigInt();
                    else if (typeof message.from === "number")
                        object.from = options.longs === $String ? $String(message.from) : message.from;
                    else
                        object.from = options.longs === $String ? $util.Long.prototype.toString.call(message.from) : options.longs === $Number ? new $util.LongBits(message.from.low >>> 0, message.from.high >>> 0).toNumber(true) : message.from;
                if (message.to != null && $Object.hasOwnProperty.call(message, "to"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.to = typeof message.to === "number" ? $BigInt(message.to) : $util.Long.fromBits(message.to.low >>> 0, message.to.high >>> 0, true).toBigInt();
                    else if (typeof message.to === "number")
                        object.to = options.longs === $String ? $String(message.to) : message.to;
                    else
                        object.to = options.longs === $String ? $util.Long.prototype.toString.call(message.to) : options.longs === $Number ? new $util.LongBits(message.to.low >>> 0, message.to.high >>> 0).toNumber(true) : message.to;
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash"))
                    object.hash = message.hash;
                if (message.manifest != null && $Object.hasOwnProperty.call(message, "manifest"))
                    object.manifest = message.manifest;
                if (message.archive != null && $Object.hasOwnProperty.call(message, "archive"))
                    object.archive = message.archive;
                return object;
            };

            SegmentSealed.prototype.toJSON = function() {
                return SegmentSealed.toObject(this, $protobuf.util.toJSONOptions);
            };

            return SegmentSealed;
        })();

        v1.LedgerRestored = (function() {

            const LedgerRestored = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            LedgerRestored.prototype.epoch = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            LedgerRestored.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            LedgerRestored.prototype.hash = "";
            LedgerRestored.prototype.lostSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            LedgerRestored.prototype.reason = "";

            LedgerRestored.create = function(properties) {
                return new LedgerRestored(properties);
            };

            LedgerRestored.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch") && (typeof message.epoch === "object" ? message.epoch.low || message.epoch.high : message.epoch !== 0))
                    writer.uint32(8).uint64(message.epoch);
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(16).uint64(message.seq);
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash") && message.hash !== "")
                    writer.uint32(26).string(message.hash);
                if (message.lostSeq != null && $Object.hasOwnProperty.call(message, "lostSeq") && (typeof message.lostSeq === "object" ? message.lostSeq.low || message.lostSeq.high : message.lostSeq !== 0))
                    writer.uint32(32).uint64(message.lostSeq);
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason") && message.reason !== "")
                    writer.uint32(42).string(message.reason);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            LedgerRestored.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.LedgerRestored();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.epoch = value;
                            else
                                delete message.epoch;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.hash = value;
                            else
                                delete message.hash;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.lostSeq = value;
                            else
                                delete message.lostSeq;
                            continue;
                        }
                    case 5: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.reason = value;
                            else
                                delete message.reason;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            LedgerRestored.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.LedgerRestored)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.LedgerRestored: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.LedgerRestored();
                if (object.epoch != null)
                    if (typeof object.epoch === "object" ? object.epoch.low || object.epoch.high : $Number(object.epoch) !== 0)
                        if ($util.Long)
                            message.epoch = $util.Long.fromValue(object.epoch, true);
                        else if (typeof object.epoch === "string")
                            message.epoch = $parseInt(object.epoch, 10);
                        else if (typeof object.epoch === "number")
                            message.epoch = object.epoch;
                        else if (typeof object.epoch === "object")
                            message.epoch = new $util.LongBits(object.epoch.low >>> 0, object.epoch.high >>> 0).toNumber(true);
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.hash != null)
                    if (typeof object.hash !== "string" || object.hash.length)
                        message.hash = $String(object.hash);
                if (object.lostSeq != null)
                    if (typeof object.lostSeq === "object" ? object.lostSeq.low || object.lostSeq.high : $Number(object.lostSeq) !== 0)
                        if ($util.Long)
                            message.lostSeq = $util.Long.fromValue(object.lostSeq, true);
                        else if (typeof object.lostSeq === "string")
                            message.lostSeq = $parseInt(object.lostSeq, 10);
                        else if (typeof object.lostSeq === "number")
                            message.lostSeq = object.lostSeq;
                        else if (typeof object.lostSeq === "object")
                            message.lostSeq = new $util.LongBits(object.lostSeq.low >>> 0, object.lostSeq.high >>> 0).toNumber(true);
                if (object.reason != null)
                    if (typeof object.reason !== "string" || object.reason.length)
                        message.reason = $String(object.reason);
                return message;
            };

            LedgerRestored.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.epoch = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.epoch = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.hash = "";
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.lostSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.lostSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.reason = "";
                }
                if (message.epoch != null && $Object.hasOwnProperty.call(message, "epoch"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.epoch = typeof message.epoch === "number" ? $BigInt(message.epoch) : $util.Long.fromBits(message.epoch.low >>> 0, message.epoch.high >>> 0, true).toBigInt();
                    else if (typeof message.epoch === "number")
                        object.epoch = options.longs === $String ? $String(message.epoch) : message.epoch;
                    else
                        object.epoch = options.longs === $String ? $util.Long.prototype.toString.call(message.epoch) : options.longs === $Number ? new $util.LongBits(message.epoch.low >>> 0, message.epoch.high >>> 0).toNumber(true) : message.epoch;
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.hash != null && $Object.hasOwnProperty.call(message, "hash"))
                    object.hash = message.hash;
                if (message.lostSeq != null && $Object.hasOwnProperty.call(message, "lostSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.lostSeq = typeof message.lostSeq === "number" ? $BigInt(message.lostSeq) : $util.Long.fromBits(message.lostSeq.low >>> 0, message.lostSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.lostSeq === "number")
                        object.lostSeq = options.longs === $String ? $String(message.lostSeq) : message.lostSeq;
                    else
                        object.lostSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.lostSeq) : options.longs === $Number ? new $util.LongBits(message.lostSeq.low >>> 0, message.lostSeq.high >>> 0).toNumber(true) : message.lostSeq;
                if (message.reason != null && $Object.hasOwnProperty.call(message, "reason"))
                    object.reason = message.reason;
                return object;
            };

            LedgerRestored.prototype.toJSON = function() {
                return LedgerRestored.toObject(this, $protobuf.util.toJSONOptions);
            };

            return LedgerRestored;
        })();

        v1.KeyRotated = (function() {

            const KeyRotated = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            KeyRotated.prototype.publicKey = "";
            KeyRotated.prototype.keyId = "";
            KeyRotated.prototype.previousKeyId = "";
            KeyRotated.prototype.signature = "";

            KeyRotated.create = function(properties) {
                return new KeyRotated(properties);
            };

            KeyRotated.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.publicKey != null && $Object.hasOwnProperty.call(message, "publicKey") && message.publicKey !== "")
                    writer.uint32(10).string(message.publicKey);
                if (message.keyId != null && $Object.hasOwnProperty.call(message, "keyId") && message.keyId !== "")
                    writer.uint32(18).string(message.keyId);
                if (message.previousKeyId != null && $Object.hasOwnProperty.call(message, "previousKeyId") && message.previousKeyId !== "")
                    writer.uint32(26).string(message.previousKeyId);
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature") && message.signature !== "")
                    writer.uint32(34).string(message.signature);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            KeyRotated.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.KeyRotated();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.publicKey = value;
                            else
                                delete message.publicKey;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.keyId = value;
                            else
                                delete message.keyId;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.previousKeyId = value;
                            else
                                delete message.previousKeyId;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.signature = value;
                            else
                                delete message.signature;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            KeyRotated.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.KeyRotated)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.KeyRotated: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.KeyRotated();
                if (object.publicKey != null)
                    if (typeof object.publicKey !== "string" || object.publicKey.length)
                        message.publicKey = $String(object.publicKey);
                if (object.keyId != null)
                    if (typeof object.keyId !== "string" || object.keyId.length)
                        message.keyId = $String(object.keyId);
                if (object.previousKeyId != null)
                    if (typeof object.previousKeyId !== "string" || object.previousKeyId.length)
                        message.previousKeyId = $String(object.previousKeyId);
                if (object.signature != null)
                    if (typeof object.signature !== "string" || object.signature.length)
                        message.signature = $String(object.signature);
                return message;
            };

            KeyRotated.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.publicKey = "";
                    object.keyId = "";
                    object.previousKeyId = "";
                    object.signature = "";
                }
                if (message.publicKey != null && $Object.hasOwnProperty.call(message, "publicKey"))
                    object.publicKey = message.publicKey;
                if (message.keyId != null && $Object.hasOwnProperty.call(message, "keyId"))
                    object.keyId = message.keyId;
                if (message.previousKeyId != null && $Object.hasOwnProperty.call(message, "previousKeyId"))
                    object.previousKeyId = message.previousKeyId;
                if (message.signature != null && $Object.hasOwnProperty.call(message, "signature"))
                    object.signature = message.signature;
                return object;
            };

            KeyRotated.prototype.toJSON = function() {
                return KeyRotated.toObject(this, $protobuf.util.toJSONOptions);
            };

            return KeyRotated;
        })();

        v1.WatchRequest = (function() {

            const WatchRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            WatchRequest.prototype.fromSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            WatchRequest.prototype.subnet = "";

            WatchRequest.create = function(properties) {
                return new WatchRequest(properties);
            };

            WatchRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.fromSeq != null && $Object.hasOwnProperty.call(message, "fromSeq") && (typeof message.fromSeq === "object" ? message.fromSeq.low || message.fromSeq.high : message.fromSeq !== 0))
                    writer.uint32(8).uint64(message.fromSeq);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(18).string(message.subnet);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            WatchRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.WatchRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.fromSeq = value;
                            else
                                delete message.fromSeq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            WatchRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.WatchRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.WatchRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.WatchRequest();
                if (object.fromSeq != null)
                    if (typeof object.fromSeq === "object" ? object.fromSeq.low || object.fromSeq.high : $Number(object.fromSeq) !== 0)
                        if ($util.Long)
                            message.fromSeq = $util.Long.fromValue(object.fromSeq, true);
                        else if (typeof object.fromSeq === "string")
                            message.fromSeq = $parseInt(object.fromSeq, 10);
                        else if (typeof object.fromSeq === "number")
                            message.fromSeq = object.fromSeq;
                        else if (typeof object.fromSeq === "object")
                            message.fromSeq = new $util.LongBits(object.fromSeq.low >>> 0, object.fromSeq.high >>> 0).toNumber(true);
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                return message;
            };

            WatchRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.fromSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.fromSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.subnet = "";
                }
                if (message.fromSeq != null && $Object.hasOwnProperty.call(message, "fromSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.fromSeq = typeof message.fromSeq === "number" ? $BigInt(message.fromSeq) : $util.Long.fromBits(message.fromSeq.low >>> 0, message.fromSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.fromSeq === "number")
                        object.fromSeq = options.longs === $String ? $String(message.fromSeq) : message.fromSeq;
                    else
                        object.fromSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.fromSeq) : options.longs === $Number ? new $util.LongBits(message.fromSeq.low >>> 0, message.fromSeq.high >>> 0).toNumber(true) : message.fromSeq;
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                return object;
            };

            WatchRequest.prototype.toJSON = function() {
                return WatchRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return WatchRequest;
        })();

        v1.WatchReply = (function() {

            const WatchReply = function (properties) {
                this.events = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            WatchReply.prototype.position = null;
            WatchReply.prototype.events = $util.emptyArray;

            WatchReply.create = function(properties) {
                return new WatchReply(properties);
            };

            WatchReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.events != null && message.events.length)
                    for (let i = 0; i < message.events.length; ++i)
                        $root.ipledger.v1.Event.encode(message.events[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            WatchReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.WatchReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.events && message.events.length))
                                message.events = [];
                            message.events.push($root.ipledger.v1.Event.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            WatchReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.WatchReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.WatchReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.WatchReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.WatchReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.events) {
                    if (!$Array.isArray(object.events))
                        throw $TypeError(".ipledger.v1.WatchReply.events: array expected");
                    message.events = $Array(object.events.length);
                    for (let i = 0; i < object.events.length; ++i) {
                        if (!$util.isObject(object.events[i]))
                            throw $TypeError(".ipledger.v1.WatchReply.events: object expected");
                        message.events[i] = $root.ipledger.v1.Event.fromObject(object.events[i], _depth + 1);
                    }
                }
                return message;
            };

            WatchReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.events = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.events && message.events.length) {
                    object.events = $Array(message.events.length);
                    for (let j = 0; j < message.events.length; ++j)
                        object.events[j] = $root.ipledger.v1.Event.toObject(message.events[j], options, _depth + 1);
                }
                return object;
            };

            WatchReply.prototype.toJSON = function() {
                return WatchReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return WatchReply;
        })();

        v1.HistoryRequest = (function() {

            const HistoryRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            HistoryRequest.prototype.address = "";
            HistoryRequest.prototype.subnet = "";
            HistoryRequest.prototype.pageSize = 0;
            HistoryRequest.prototype.pageToken = "";

            HistoryRequest.create = function(properties) {
                return new HistoryRequest(properties);
            };

            HistoryRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.address != null && $Object.hasOwnProperty.call(message, "address") && message.address !== "")
                    writer.uint32(10).string(message.address);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(18).string(message.subnet);
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize") && message.pageSize !== 0)
                    writer.uint32(24).uint32(message.pageSize);
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken") && message.pageToken !== "")
                    writer.uint32(34).string(message.pageToken);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            HistoryRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.HistoryRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.address = value;
                            else
                                delete message.address;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 0)
                                break;
                            if (value = reader.uint32())
                                message.pageSize = value;
                            else
                                delete message.pageSize;
                            continue;
                        }
                    case 4: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.pageToken = value;
                            else
                                delete message.pageToken;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            HistoryRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.HistoryRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.HistoryRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.HistoryRequest();
                if (object.address != null)
                    if (typeof object.address !== "string" || object.address.length)
                        message.address = $String(object.address);
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                if (object.pageSize != null)
                    if ($Number(object.pageSize) !== 0)
                        message.pageSize = object.pageSize >>> 0;
                if (object.pageToken != null)
                    if (typeof object.pageToken !== "string" || object.pageToken.length)
                        message.pageToken = $String(object.pageToken);
                return message;
            };

            HistoryRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    object.address = "";
                    object.subnet = "";
                    object.pageSize = 0;
                    object.pageToken = "";
                }
                if (message.address != null && $Object.hasOwnProperty.call(message, "address"))
                    object.address = message.address;
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                if (message.pageSize != null && $Object.hasOwnProperty.call(message, "pageSize"))
                    object.pageSize = message.pageSize;
                if (message.pageToken != null && $Object.hasOwnProperty.call(message, "pageToken"))
                    object.pageToken = message.pageToken;
                return object;
            };

            HistoryRequest.prototype.toJSON = function() {
                return HistoryRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return HistoryRequest;
        })();

        v1.HistoryReply = (function() {

            const HistoryReply = function (properties) {
                this.events = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            HistoryReply.prototype.position = null;
            HistoryReply.prototype.events = $util.emptyArray;
            HistoryReply.prototype.nextPageToken = "";

            HistoryReply.create = function(properties) {
                return new HistoryReply(properties);
            };

            HistoryReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.events != null && message.events.length)
                    for (let i = 0; i < message.events.length; ++i)
                        $root.ipledger.v1.Event.encode(message.events[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken") && message.nextPageToken !== "")
                    writer.uint32(26).string(message.nextPageToken);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            HistoryReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.HistoryReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.events && message.events.length))
                                message.events = [];
                            message.events.push($root.ipledger.v1.Event.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.nextPageToken = value;
                            else
                                delete message.nextPageToken;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            HistoryReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.HistoryReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.HistoryReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.HistoryReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.HistoryReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.events) {
                    if (!$Array.isArray(object.events))
                        throw $TypeError(".ipledger.v1.HistoryReply.events: array expected");
                    message.events = $Array(object.events.length);
                    for (let i = 0; i < object.events.length; ++i) {
                        if (!$util.isObject(object.events[i]))
                            throw $TypeError(".ipledger.v1.HistoryReply.events: object expected");
                        message.events[i] = $root.ipledger.v1.Event.fromObject(object.events[i], _depth + 1);
                    }
                }
                if (object.nextPageToken != null)
                    if (typeof object.nextPageToken !== "string" || object.nextPageToken.length)
                        message.nextPageToken = $String(object.nextPageToken);
                return message;
            };

            HistoryReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.events = [];
                if (options.defaults) {
                    object.position = null;
                    object.nextPageToken = "";
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.events && message.events.length) {
                    object.events = $Array(message.events.length);
                    for (let j = 0; j < message.events.length; ++j)
                        object.events[j] = $root.ipledger.v1.Event.toObject(message.events[j], options, _depth + 1);
                }
                if (message.nextPageToken != null && $Object.hasOwnProperty.call(message, "nextPageToken"))
                    object.nextPageToken = message.nextPageToken;
                return object;
            };

            HistoryReply.prototype.toJSON = function() {
                return HistoryReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return HistoryReply;
        })();

        v1.StateAtRequest = (function() {

            const StateAtRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            StateAtRequest.prototype.seq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            StateAtRequest.prototype.at = "";
            StateAtRequest.prototype.subnet = "";

            StateAtRequest.create = function(properties) {
                return new StateAtRequest(properties);
            };

            StateAtRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq") && (typeof message.seq === "object" ? message.seq.low || message.seq.high : message.seq !== 0))
                    writer.uint32(8).uint64(message.seq);
                if (message.at != null && $Object.hasOwnProperty.call(message, "at") && message.at !== "")
                    writer.uint32(18).string(message.at);
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet") && message.subnet !== "")
                    writer.uint32(26).string(message.subnet);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            StateAtRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.StateAtRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.seq = value;
                            else
                                delete message.seq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.at = value;
                            else
                                delete message.at;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if ((value = reader.stringVerify()).length)
                                message.subnet = value;
                            else
                                delete message.subnet;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            StateAtRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.StateAtRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.StateAtRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.StateAtRequest();
                if (object.seq != null)
                    if (typeof object.seq === "object" ? object.seq.low || object.seq.high : $Number(object.seq) !== 0)
                        if ($util.Long)
                            message.seq = $util.Long.fromValue(object.seq, true);
                        else if (typeof object.seq === "string")
                            message.seq = $parseInt(object.seq, 10);
                        else if (typeof object.seq === "number")
                            message.seq = object.seq;
                        else if (typeof object.seq === "object")
                            message.seq = new $util.LongBits(object.seq.low >>> 0, object.seq.high >>> 0).toNumber(true);
                if (object.at != null)
                    if (typeof object.at !== "string" || object.at.length)
                        message.at = $String(object.at);
                if (object.subnet != null)
                    if (typeof object.subnet !== "string" || object.subnet.length)
                        message.subnet = $String(object.subnet);
                return message;
            };

            StateAtRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.seq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.seq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    object.at = "";
                    object.subnet = "";
                }
                if (message.seq != null && $Object.hasOwnProperty.call(message, "seq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.seq = typeof message.seq === "number" ? $BigInt(message.seq) : $util.Long.fromBits(message.seq.low >>> 0, message.seq.high >>> 0, true).toBigInt();
                    else if (typeof message.seq === "number")
                        object.seq = options.longs === $String ? $String(message.seq) : message.seq;
                    else
                        object.seq = options.longs === $String ? $util.Long.prototype.toString.call(message.seq) : options.longs === $Number ? new $util.LongBits(message.seq.low >>> 0, message.seq.high >>> 0).toNumber(true) : message.seq;
                if (message.at != null && $Object.hasOwnProperty.call(message, "at"))
                    object.at = message.at;
                if (message.subnet != null && $Object.hasOwnProperty.call(message, "subnet"))
                    object.subnet = message.subnet;
                return object;
            };

            StateAtRequest.prototype.toJSON = function() {
                return StateAtRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return StateAtRequest;
        })();

        v1.StateAtReply = (function() {

            const StateAtReply = function (properties) {
                this.allocations = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            StateAtReply.prototype.position = null;
            StateAtReply.prototype.allocations = $util.emptyArray;

            StateAtReply.create = function(properties) {
                return new StateAtReply(properties);
            };

            StateAtReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.allocations != null && message.allocations.length)
                    for (let i = 0; i < message.allocations.length; ++i)
                        $root.ipledger.v1.Allocation.encode(message.allocations[i], writer.uint32(18).fork(), _depth + 1).ldelim();
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            StateAtReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.StateAtReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.allocations && message.allocations.length))
                                message.allocations = [];
                            message.allocations.push($root.ipledger.v1.Allocation.decode(reader, reader.size(), $undefined, _depth + 1));
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            StateAtReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.StateAtReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.StateAtReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.StateAtReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.StateAtReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.allocations) {
                    if (!$Array.isArray(object.allocations))
                        throw $TypeError(".ipledger.v1.StateAtReply.allocations: array expected");
                    message.allocations = $Array(object.allocations.length);
                    for (let i = 0; i < object.allocations.length; ++i) {
                        if (!$util.isObject(object.allocations[i]))
                            throw $TypeError(".ipledger.v1.StateAtReply.allocations: object expected");
                        message.allocations[i] = $root.ipledger.v1.Allocation.fromObject(object.allocations[i], _depth + 1);
                    }
                }
                return message;
            };

            StateAtReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.allocations = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.allocations && message.allocations.length) {
                    object.allocations = $Array(message.allocations.length);
                    for (let j = 0; j < message.allocations.length; ++j)
                        object.allocations[j] = $root.ipledger.v1.Allocation.toObject(message.allocations[j], options, _depth + 1);
                }
                return object;
            };

            StateAtReply.prototype.toJSON = function() {
                return StateAtReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return StateAtReply;
        })();

        v1.VerifyRequest = (function() {

            const VerifyRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            VerifyRequest.prototype.fromSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            VerifyRequest.create = function(properties) {
                return new VerifyRequest(properties);
            };

            VerifyRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.fromSeq != null && $Object.hasOwnProperty.call(message, "fromSeq") && (typeof message.fromSeq === "object" ? message.fromSeq.low || message.fromSeq.high : message.fromSeq !== 0))
                    writer.uint32(8).uint64(message.fromSeq);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            VerifyRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.VerifyRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.fromSeq = value;
                            else
                                delete message.fromSeq;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            VerifyRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.VerifyRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.VerifyRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.VerifyRequest();
                if (object.fromSeq != null)
                    if (typeof object.fromSeq === "object" ? object.fromSeq.low || object.fromSeq.high : $Number(object.fromSeq) !== 0)
                        if ($util.Long)
                            message.fromSeq = $util.Long.fromValue(object.fromSeq, true);
                        else if (typeof object.fromSeq === "string")
                            message.fromSeq = $parseInt(object.fromSeq, 10);
                        else if (typeof object.fromSeq === "number")
                            message.fromSeq = object.fromSeq;
                        else if (typeof object.fromSeq === "object")
                            message.fromSeq = new $util.LongBits(object.fromSeq.low >>> 0, object.fromSeq.high >>> 0).toNumber(true);
                return message;
            };

            VerifyRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults)
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.fromSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.fromSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                if (message.fromSeq != null && $Object.hasOwnProperty.call(message, "fromSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.fromSeq = typeof message.fromSeq === "number" ? $BigInt(message.fromSeq) : $util.Long.fromBits(message.fromSeq.low >>> 0, message.fromSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.fromSeq === "number")
                        object.fromSeq = options.longs === $String ? $String(message.fromSeq) : message.fromSeq;
                    else
                        object.fromSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.fromSeq) : options.longs === $Number ? new $util.LongBits(message.fromSeq.low >>> 0, message.fromSeq.high >>> 0).toNumber(true) : message.fromSeq;
                return object;
            };

            VerifyRequest.prototype.toJSON = function() {
                return VerifyRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return VerifyRequest;
        })();

        v1.VerifyReply = (function() {

            const VerifyReply = function (properties) {
                this.problems = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            VerifyReply.prototype.position = null;
            VerifyReply.prototype.verifiedSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            VerifyReply.prototype.problems = $util.emptyArray;

            VerifyReply.create = function(properties) {
                return new VerifyReply(properties);
            };

            VerifyReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.verifiedSeq != null && $Object.hasOwnProperty.call(message, "verifiedSeq") && (typeof message.verifiedSeq === "object" ? message.verifiedSeq.low || message.verifiedSeq.high : message.verifiedSeq !== 0))
                    writer.uint32(16).uint64(message.verifiedSeq);
                if (message.problems != null && message.problems.length)
                    for (let i = 0; i < message.problems.length; ++i)
                        writer.uint32(26).string(message.problems[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            VerifyReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.VerifyReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.verifiedSeq = value;
                            else
                                delete message.verifiedSeq;
                            continue;
                        }
                    case 3: {
                            if (wireType !== 2)
                                break;
                            if (!(message.problems && message.problems.length))
                                message.problems = [];
                            message.problems.push(reader.stringVerify());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            VerifyReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.VerifyReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.VerifyReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.VerifyReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.VerifyReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.verifiedSeq != null)
                    if (typeof object.verifiedSeq === "object" ? object.verifiedSeq.low || object.verifiedSeq.high : $Number(object.verifiedSeq) !== 0)
                        if ($util.Long)
                            message.verifiedSeq = $util.Long.fromValue(object.verifiedSeq, true);
                        else if (typeof object.verifiedSeq === "string")
                            message.verifiedSeq = $parseInt(object.verifiedSeq, 10);
                        else if (typeof object.verifiedSeq === "number")
                            message.verifiedSeq = object.verifiedSeq;
                        else if (typeof object.verifiedSeq === "object")
                            message.verifiedSeq = new $util.LongBits(object.verifiedSeq.low >>> 0, object.verifiedSeq.high >>> 0).toNumber(true);
                if (object.problems) {
                    if (!$Array.isArray(object.problems))
                        throw $TypeError(".ipledger.v1.VerifyReply.problems: array expected");
                    message.problems = $Array(object.problems.length);
                    for (let i = 0; i < object.problems.length; ++i)
                        message.problems[i] = $String(object.problems[i]);
                }
                return message;
            };

            VerifyReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.problems = [];
                if (options.defaults) {
                    object.position = null;
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.verifiedSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.verifiedSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                }
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.verifiedSeq != null && $Object.hasOwnProperty.call(message, "verifiedSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.verifiedSeq = typeof message.verifiedSeq === "number" ? $BigInt(message.verifiedSeq) : $util.Long.fromBits(message.verifiedSeq.low >>> 0, message.verifiedSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.verifiedSeq === "number")
                        object.verifiedSeq = options.longs === $String ? $String(message.verifiedSeq) : message.verifiedSeq;
                    else
                        object.verifiedSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.verifiedSeq) : options.longs === $Number ? new $util.LongBits(message.verifiedSeq.low >>> 0, message.verifiedSeq.high >>> 0).toNumber(true) : message.verifiedSeq;
                if (message.problems && message.problems.length) {
                    object.problems = $Array(message.problems.length);
                    for (let j = 0; j < message.problems.length; ++j)
                        object.problems[j] = message.problems[j];
                }
                return object;
            };

            VerifyReply.prototype.toJSON = function() {
                return VerifyReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return VerifyReply;
        })();

        v1.ExportRequest = (function() {

            const ExportRequest = function (properties) {
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ExportRequest.prototype.fromSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;
            ExportRequest.prototype.toSeq = $util.Long ? $util.Long.fromBits(0,0,true) : 0;

            ExportRequest.create = function(properties) {
                return new ExportRequest(properties);
            };

            ExportRequest.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.fromSeq != null && $Object.hasOwnProperty.call(message, "fromSeq") && (typeof message.fromSeq === "object" ? message.fromSeq.low || message.fromSeq.high : message.fromSeq !== 0))
                    writer.uint32(8).uint64(message.fromSeq);
                if (message.toSeq != null && $Object.hasOwnProperty.call(message, "toSeq") && (typeof message.toSeq === "object" ? message.toSeq.low || message.toSeq.high : message.toSeq !== 0))
                    writer.uint32(16).uint64(message.toSeq);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ExportRequest.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ExportRequest();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.fromSeq = value;
                            else
                                delete message.fromSeq;
                            continue;
                        }
                    case 2: {
                            if (wireType !== 0)
                                break;
                            if (typeof (value = reader.uint64()) === "object" ? value.low || value.high : value !== 0)
                                message.toSeq = value;
                            else
                                delete message.toSeq;
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ExportRequest.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ExportRequest)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ExportRequest: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ExportRequest();
                if (object.fromSeq != null)
                    if (typeof object.fromSeq === "object" ? object.fromSeq.low || object.fromSeq.high : $Number(object.fromSeq) !== 0)
                        if ($util.Long)
                            message.fromSeq = $util.Long.fromValue(object.fromSeq, true);
                        else if (typeof object.fromSeq === "string")
                            message.fromSeq = $parseInt(object.fromSeq, 10);
                        else if (typeof object.fromSeq === "number")
                            message.fromSeq = object.fromSeq;
                        else if (typeof object.fromSeq === "object")
                            message.fromSeq = new $util.LongBits(object.fromSeq.low >>> 0, object.fromSeq.high >>> 0).toNumber(true);
                if (object.toSeq != null)
                    if (typeof object.toSeq === "object" ? object.toSeq.low || object.toSeq.high : $Number(object.toSeq) !== 0)
                        if ($util.Long)
                            message.toSeq = $util.Long.fromValue(object.toSeq, true);
                        else if (typeof object.toSeq === "string")
                            message.toSeq = $parseInt(object.toSeq, 10);
                        else if (typeof object.toSeq === "number")
                            message.toSeq = object.toSeq;
                        else if (typeof object.toSeq === "object")
                            message.toSeq = new $util.LongBits(object.toSeq.low >>> 0, object.toSeq.high >>> 0).toNumber(true);
                return message;
            };

            ExportRequest.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.defaults) {
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.fromSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.fromSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                    if ($util.Long) {
                        let long = new $util.Long(0, 0, true);
                        object.toSeq = options.longs === $String ? long.toString() : options.longs === $Number ? long.toNumber() : typeof $BigInt !== "undefined" && options.longs === $BigInt ? long.toBigInt() : long;
                    } else
                        object.toSeq = options.longs === $String ? "0" : typeof $BigInt !== "undefined" && options.longs === $BigInt ? $BigInt("0") : 0;
                }
                if (message.fromSeq != null && $Object.hasOwnProperty.call(message, "fromSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.fromSeq = typeof message.fromSeq === "number" ? $BigInt(message.fromSeq) : $util.Long.fromBits(message.fromSeq.low >>> 0, message.fromSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.fromSeq === "number")
                        object.fromSeq = options.longs === $String ? $String(message.fromSeq) : message.fromSeq;
                    else
                        object.fromSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.fromSeq) : options.longs === $Number ? new $util.LongBits(message.fromSeq.low >>> 0, message.fromSeq.high >>> 0).toNumber(true) : message.fromSeq;
                if (message.toSeq != null && $Object.hasOwnProperty.call(message, "toSeq"))
                    if (typeof $BigInt !== "undefined" && options.longs === $BigInt)
                        object.toSeq = typeof message.toSeq === "number" ? $BigInt(message.toSeq) : $util.Long.fromBits(message.toSeq.low >>> 0, message.toSeq.high >>> 0, true).toBigInt();
                    else if (typeof message.toSeq === "number")
                        object.toSeq = options.longs === $String ? $String(message.toSeq) : message.toSeq;
                    else
                        object.toSeq = options.longs === $String ? $util.Long.prototype.toString.call(message.toSeq) : options.longs === $Number ? new $util.LongBits(message.toSeq.low >>> 0, message.toSeq.high >>> 0).toNumber(true) : message.toSeq;
                return object;
            };

            ExportRequest.prototype.toJSON = function() {
                return ExportRequest.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ExportRequest;
        })();

        v1.ExportReply = (function() {

            const ExportReply = function (properties) {
                this.lines = [];
                if (properties)
                    for (let keys = $Object.keys(properties), i = 0; i < keys.length; ++i)
                        if (properties[keys[i]] != null && keys[i] !== "__proto__")
                            this[keys[i]] = properties[keys[i]];
            };

            ExportReply.prototype.position = null;
            ExportReply.prototype.lines = $util.emptyArray;

            ExportReply.create = function(properties) {
                return new ExportReply(properties);
            };

            ExportReply.encode = function (message, writer, _depth) {
                if (!writer)
                    writer = $Writer.create();
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    $root.ipledger.v1.Position.encode(message.position, writer.uint32(10).fork(), _depth + 1).ldelim();
                if (message.lines != null && message.lines.length)
                    for (let i = 0; i < message.lines.length; ++i)
                        writer.uint32(18).string(message.lines[i]);
                if (message.$unknowns != null && $Object.hasOwnProperty.call(message, "$unknowns"))
                    for (let i = 0; i < message.$unknowns.length; ++i)
                        writer.raw(message.$unknowns[i]);
                return writer;
            };

            ExportReply.decode = function (reader, length, _end, _depth, _target) {
                if (!(reader instanceof $Reader))
                    reader = $Reader.create(reader);
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $Reader.recursionLimit)
                    throw $Error("max depth exceeded");
                let end, message, value;
                if (length === $undefined)
                    end = reader.len;
                else {
                    end = reader.pos + length;
                    if (end > reader.len)
                        throw $RangeError("index out of range");
                    length = reader.len;
                    reader.len = end;
                }
                message = _target || new $root.ipledger.v1.ExportReply();
                while (reader.pos < end) {
                    let start = reader.pos;
                    let tag = reader.tag();
                    if (tag === _end) {
                        _end = $undefined;
                        break;
                    }
                    let wireType = tag & 7;
                    switch (tag >>>= 3) {
                    case 1: {
                            if (wireType !== 2)
                                break;
                            message.position = $root.ipledger.v1.Position.decode(reader, reader.size(), $undefined, _depth + 1, message.position);
                            continue;
                        }
                    case 2: {
                            if (wireType !== 2)
                                break;
                            if (!(message.lines && message.lines.length))
                                message.lines = [];
                            message.lines.push(reader.stringVerify());
                            continue;
                        }
                    }
                    reader.skipType(wireType, _depth, tag);
                    if (!reader.discardUnknown) {
                        $util.makeProp(message, "$unknowns", false);
                        (message.$unknowns || (message.$unknowns = [])).push(reader.raw(start, reader.pos));
                    }
                }
                if (length !== $undefined) {
                    if (reader.pos !== end)
                        throw $RangeError("index out of range");
                    reader.len = length;
                }
                if (_end !== $undefined)
                    throw $Error("missing end group");
                return message;
            };

            ExportReply.fromObject = function (object, _depth) {
                if (object instanceof $root.ipledger.v1.ExportReply)
                    return object;
                if (!$util.isObject(object))
                    throw $TypeError(".ipledger.v1.ExportReply: object expected");
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let message = new $root.ipledger.v1.ExportReply();
                if (object.position != null) {
                    if (!$util.isObject(object.position))
                        throw $TypeError(".ipledger.v1.ExportReply.position: object expected");
                    message.position = $root.ipledger.v1.Position.fromObject(object.position, _depth + 1);
                }
                if (object.lines) {
                    if (!$Array.isArray(object.lines))
                        throw $TypeError(".ipledger.v1.ExportReply.lines: array expected");
                    message.lines = $Array(object.lines.length);
                    for (let i = 0; i < object.lines.length; ++i)
                        message.lines[i] = $String(object.lines[i]);
                }
                return message;
            };

            ExportReply.toObject = function (message, options, _depth) {
                if (!options)
                    options = {};
                if (_depth === $undefined)
                    _depth = 0;
                if (_depth > $util.recursionLimit)
                    throw $Error("max depth exceeded");
                let object = {};
                if (options.arrays || options.defaults)
                    object.lines = [];
                if (options.defaults)
                    object.position = null;
                if (message.position != null && $Object.hasOwnProperty.call(message, "position"))
                    object.position = $root.ipledger.v1.Position.toObject(message.position, options, _depth + 1);
                if (message.lines && message.lines.length) {
                    object.lines = $Array(message.lines.length);
                    for (let j = 0; j < message.lines.length; ++j)
                        object.lines[j] = message.lines[j];
                }
                return object;
            };

            ExportReply.prototype.toJSON = function() {
                return ExportReply.toObject(this, $protobuf.util.toJSONOptions);
            };

            return ExportReply;
        })();

        return v1;
    })();

    return ipledger;
})();

export {
  $root as default
};
