// SPDX-License-Identifier: Apache-2.0
// `query` runs SQL on the tables that `export --format sqlite` writes.
#include <sqlite3.h>

#include <memory>
#include <string_view>

#include "host-tools/base/file.hpp"
#include "host-tools/cli/commands/commands.hpp"
#include "host-tools/cli/commands/load.hpp"
#include "host-tools/views/export/formats.hpp"
#include "host-tools/views/json/json.hpp"
#include "host-tools/views/text/table.hpp"

namespace nopscope::host {
namespace {

struct QueryOptions {
    ReportOptions report;  // file (also a database that `export` wrote), image, format
    std::string sql;
};

struct Close {
    void operator()(sqlite3* database) const { sqlite3_close(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

Database open(const std::string& path, int flags) {
    sqlite3* database = nullptr;
    const int result = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
    Database opened(database);
    if (result != SQLITE_OK)
        throw Error(fmt::format("cannot open {}: {}", path, sqlite3_errmsg(database)));
    return opened;
}

Database tables_of(const ReportOptions& options) {
    static constexpr std::string_view magic("SQLite format 3\0", 16);
    if (begins_with(options.file, magic)) {
        if (!options.part.whole() || !options.calls.all()) {
            throw Error(options.file + " is a database: a part can be shown of a recording only",
                        Exit::usage);
        }
        return open(options.file, SQLITE_OPEN_READONLY);
    }
    Database database =
        open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);  // a temporary file without a name
    stream_into(*sqlite_sink(database.get(), TimeAxis::wall), options, TimeAxis::wall);
    return database;
}

bool asked_for_more = false;  // the query asked for more than reading

// Lets a query only read: it changes nothing and opens no other file (sqlite3_set_authorizer).
int only_reading(void* /*unused*/, int what, const char* first, const char* /*second*/,
                 const char* /*database*/, const char* /*trigger*/) {
    switch (what) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_PRAGMA:
        if (std::string_view(first) == "table_info" || std::string_view(first) == "table_list")
            return SQLITE_OK;
        break;
    default: break;
    }
    asked_for_more = true;
    return SQLITE_DENY;
}

// The database may come from anyone, so its schema must not run anything harmful either.
void guard(sqlite3* database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_set_authorizer(database, only_reading, nullptr);
}

Error refused(sqlite3* database) {
    if (asked_for_more)
        return Error("the query must be a SELECT: it may read these tables, and nothing else",
                     Exit::usage);
    return Error(fmt::format("the query: {}", sqlite3_errmsg(database)), Exit::usage);
}

Statement prepare(sqlite3* database, const std::string& sql) {
    guard(database);
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    const int result =
        sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &statement, &rest);
    Statement prepared(statement);
    if (result != SQLITE_OK) throw refused(database);
    if (statement == nullptr) throw Error("the query is empty", Exit::usage);
    if (std::string_view(rest).find_first_not_of(" \t\r\n;") != std::string_view::npos) {
        throw Error("the query is more than one statement", Exit::usage);
    }
    return prepared;
}

std::string_view bytes_of(sqlite3_stmt* row, int column) {
    const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(row, column));
    const auto count = static_cast<std::size_t>(sqlite3_column_bytes(row, column));
    return bytes != nullptr ? std::string_view(bytes, count) : std::string_view();
}

Json json_value(sqlite3_stmt* row, int column) {
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL: return nullptr;
    case SQLITE_INTEGER: return sqlite3_column_int64(row, column);
    case SQLITE_FLOAT: return sqlite3_column_double(row, column);
    default: return to_utf8(bytes_of(row, column));
    }
}

bool is_number(sqlite3_stmt* row, int column) {
    const int type = sqlite3_column_type(row, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

// A value as text or CSV shows it.
std::string cell(sqlite3_stmt* row, int column) {
    const int type = sqlite3_column_type(row, column);
    if (type == SQLITE_INTEGER) return std::to_string(sqlite3_column_int64(row, column));
    if (type == SQLITE_FLOAT) return fmt::format("{:.10g}", sqlite3_column_double(row, column));
    return std::string(bytes_of(row, column));
}

class Answer {
public:
    Answer(sqlite3* database, sqlite3_stmt* statement)
        : database_(database), statement_(statement) {
        for (int n = 0; n < sqlite3_column_count(statement); ++n)
            names_.emplace_back(sqlite3_column_name(statement, n));
    }
    void write(Format format) {
        switch (format) {
        case Format::text: return text();
        case Format::json: return json();
        case Format::csv: return csv();
        }
    }

private:
    bool next() {
        const int result = sqlite3_step(statement_);
        if (result == SQLITE_ROW) return true;
        if (result != SQLITE_DONE) throw refused(database_);
        return false;
    }
    int columns() const { return static_cast<int>(names_.size()); }

    // Aligns columns of numbers to the right, all others to the left.
    void text() {
        std::vector<std::vector<std::string>> rows(1);
        std::vector<bool> to_the_right(names_.size(), true);
        for (const std::string& name : names_) rows[0].push_back(for_cell(name));
        while (next()) {
            auto& row = rows.emplace_back();
            for (int n = 0; n < columns(); ++n) {
                if (!is_number(statement_, n) &&
                    sqlite3_column_type(statement_, n) != SQLITE_NULL) {
                    to_the_right[static_cast<std::size_t>(n)] = false;
                }
                row.push_back(for_cell(cell(statement_, n)));
            }
        }
        std::vector<std::size_t> widths(names_.size());
        for (const auto& row : rows) {
            for (std::size_t n = 0; n < row.size(); ++n)
                widths[n] = std::max(widths[n], row[n].size());
        }
        for (const auto& row : rows) {
            std::string line;
            for (std::size_t n = 0; n < row.size(); ++n) {
                line += to_the_right[n] ? fmt::format("{:>{}}  ", row[n], widths[n])
                                        : fmt::format("{:<{}}  ", row[n], widths[n]);
            }
            line.erase(line.find_last_not_of(' ') + 1);
            print(line + "\n");
        }
    }
    void json() {
        const char* before = "[\n ";
        while (next()) {
            Json row = Json::object();
            for (int n = 0; n < columns(); ++n)
                row[names_[static_cast<std::size_t>(n)]] = json_value(statement_, n);
            print(before + row.dump(-1, ' ', true, Json::error_handler_t::replace));
            before = ",\n ";
        }
        print(*before == '[' ? "[]\n" : "\n]\n");
    }
    void csv() {
        std::string line;
        for (const std::string& name : names_) line += (line.empty() ? "" : ",") + csv_cell(name);
        print(line + "\n");
        while (next()) {
            line.clear();
            for (int n = 0; n < columns(); ++n) {
                const bool as_it_is =
                    is_number(statement_, n) || sqlite3_column_type(statement_, n) == SQLITE_NULL;
                if (n != 0) line += ',';
                line += as_it_is ? cell(statement_, n) : csv_cell(cell(statement_, n));
            }
            print(line + "\n");
        }
    }

    sqlite3* database_;
    sqlite3_stmt* statement_;
    std::vector<std::string> names_;
};

Exit query(const QueryOptions& options) {
    const Database database = tables_of(options.report);
    const Statement statement = prepare(database.get(), options.sql);
    Answer(database.get(), statement.get()).write(options.report.format);
    return Exit::ok;
}

}  // namespace

Action add_query(CLI::App& app, CLI::App*& command) {
    auto options = std::make_shared<QueryOptions>();
    command = add_command(app, "query", "Ask a recording in SQL",
                          {"nopscope query run.nsc 'SELECT name, MAX(duration_ns) FROM named_calls "
                           "GROUP BY name ORDER BY 2 DESC LIMIT 10'"});
    add_recording(command, options->report)
        ->description(
            "A recording, a raw capture, or a database that `export --format sqlite` wrote");
    add_kept_functions(command, options->report);
    command->add_option("sql", options->sql, "One statement; the tables are in docs/exports.md")
        ->required();
    add_choice(command, "--format", options->report.format, formats, "Output");
    return [options] { return query(*options); };
}

}  // namespace nopscope::host
