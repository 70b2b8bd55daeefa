"""Tables come from standard input and go to standard output, and nothing else does."""

import gzip
import io
import os
import subprocess
import threading

import pandas as pd
import pytest

from tests.support.command_line import SMALL, assert_one_line, epiboost, start_epiboost


def predict(folder, *options, stdin=None, table="-"):
    return epiboost("predict", folder / "regressor.epib", table, "-o", "-", *options, stdin=stdin)


@pytest.fixture
def expected(shared_folder, tmp_path):
    output = tmp_path / "out.csv"
    assert (
        epiboost("predict", shared_folder / "regressor.epib", shared_folder / "test.csv", "-o", output).exit_code == 0
    )
    return output.read_bytes()


@pytest.fixture
def data(shared_folder):
    return (shared_folder / "test.csv").read_bytes()


def test_standard_output_holds_the_table_and_standard_error_the_message(shared_folder, data, expected):
    ended = predict(shared_folder, stdin=data)
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout_bytes == expected
    assert ended.stderr == "Predicted 100 rows\n"


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_both_names_of_standard_output_are_known(shared_folder, expected, name):
    table = shared_folder / "test.csv"
    ended = epiboost("predict", shared_folder / "regressor.epib", table, "-o", name)
    assert ended.stdout_bytes == expected


def test_the_format_of_standard_input_is_told_by_its_content(shared_folder, data, expected):
    frame = pd.read_csv(io.BytesIO(data))
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    json = frame.to_json(orient="records", lines=True, double_precision=15).encode()
    tabs = data.replace(b",", b"\t")
    for content in (gzip.compress(data), json, tabs, parquet.getvalue()):
        ended = predict(shared_folder, stdin=content)
        assert ended.exit_code == 0, ended.stderr
        found, known = pd.read_csv(io.BytesIO(ended.stdout_bytes)), pd.read_csv(io.BytesIO(expected))
        pd.testing.assert_frame_equal(found, known)


def test_the_option_format_is_stronger_than_the_content(shared_folder, data):
    tabs = data.replace(b",", b"\t").replace(b"price", b"price,net")
    assert_one_line(predict(shared_folder, stdin=tabs), "cannot read standard input: ", "Expected 2 columns")
    assert predict(shared_folder, "--format", "tsv", stdin=tabs).exit_code == 0


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_standard_output_has_the_format_that_is_asked_for(shared_folder, data, expected, kind):
    ended = predict(shared_folder, "--output-format", kind, stdin=data)
    file = io.BytesIO(ended.stdout_bytes)
    readers = {
        "tsv": lambda: pd.read_csv(file, sep="\t"),
        "jsonl": lambda: pd.read_json(file, lines=True),
        "parquet": lambda: pd.read_parquet(file),
    }
    pd.testing.assert_frame_equal(readers[kind](), pd.read_csv(io.BytesIO(expected)), check_dtype=False)


def test_a_file_without_a_known_ending_is_read_and_written_by_the_given_formats(
    shared_folder, data, expected, tmp_path
):
    table, output = tmp_path / "test.txt", tmp_path / "out.dat"
    table.write_bytes(data)
    command = ("predict", shared_folder / "regressor.epib", table, "-o", output)
    assert_one_line(epiboost(*command), "out.dat", "give --output-format")
    assert_one_line(epiboost(*command, "--output-format", "csv"), "test.txt", "give --format")
    assert epiboost(*command, "--output-format", "csv", "--format", "csv").exit_code == 0
    assert output.read_bytes() == expected


def test_the_training_table_may_come_from_standard_input(train, tmp_path):
    output = tmp_path / "model.epib"
    ended = epiboost("fit", "-", "--target", "price", "-o", output, *SMALL, stdin=train.read_bytes())
    assert ended.exit_code == 0, ended.stderr
    assert output.exists()


def test_standard_input_is_read_once(train, tmp_path):
    options = ("--target", "price", "--valid", "-", "-o", tmp_path / "model.epib")
    assert_one_line(epiboost("fit", "-", *options, stdin=train.read_bytes()), "standard input", "was read before")


def test_bytes_of_a_file_that_is_no_text_do_not_reach_the_terminal(shared_folder, tmp_path):
    table = tmp_path / "noise.csv"
    table.write_bytes(b"a\x1b[31m,b\n\x07\x08\n")
    assert_one_line(predict(shared_folder, table=table), "noise.csv")
    assert predict(shared_folder, table=table).stderr.rstrip("\n").isprintable()


@pytest.mark.parametrize("stdin", [b"", b" \n"])
def test_empty_standard_input_is_one_line(shared_folder, stdin):
    assert_one_line(predict(shared_folder, stdin=stdin), "standard input is empty")


def test_what_is_no_table_is_not_written_to_standard_output(train, shared_folder):
    ended = epiboost("fit", train, "--target", "price", "-o", "-", *SMALL)
    assert_one_line(ended, "only tables are written there")
    ended = epiboost("evaluate", shared_folder / "regressor.epib", train, "--json", "-")
    assert_one_line(ended, "only tables are written there")


def test_an_error_leaves_standard_output_empty(shared_folder):
    ended = predict(shared_folder, stdin=b"size,weather\n1,2\n")
    assert_one_line(ended, "standard input lacks the column 'age'")
    assert ended.stdout_bytes == b""


def test_a_closed_pipe_ends_quietly(shared_folder, tmp_path):
    table = tmp_path / "many.csv"
    table.write_text("size,age\n" + "0.5,1.5\n" * 20_000)  # more than a pipe holds
    arguments = ("predict", shared_folder / "regressor.epib", table, "-o", "-")
    started = start_epiboost(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert started.stdout.readline().startswith('"prediction"')
    started.stdout.close()
    _, errors = started.communicate(timeout=60)
    assert errors == ""
    assert started.returncode == 1  # that of Click; not an error of the input


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read(shared_folder, data, expected, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[data])
    writer.start()
    ended = predict(shared_folder, table=pipe)
    writer.join(timeout=60)
    assert ended.exit_code == 0, ended.stderr
    assert ended.stdout_bytes == expected
